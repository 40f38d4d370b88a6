import type { TestDatabase } from '../databases.ts';
import { settleDown } from '../seed.ts';
import { seededId, sqlWords } from '../sql-words.ts';

// The baselines' tables: the columns of the service's, and those of its indexes that its responses need.

const TABLES = (id: string): string[] => [
  `create table shop_counters (
    shop_id ${id} primary key not null, last_number bigint not null, month text not null, month_used bigint not null,
    last_position bigint not null default 0, last_at bigint not null default 0)`,
  `create table offline_repairs (
    id ${id} primary key not null, shop_id ${id} not null, receiver_id ${id}, number bigint not null, status text not null,
    external_ref text, external_source text, order_number text not null, customer_email text not null,
    customer_name text not null, customer_phone text, faulty_item text not null, fault_description text not null,
    store_id text not null, replacement_sku text, notes text, is_dangerous integer not null, tracking_number text,
    carrier_name text, offline_disposition text, assigned_to_id text, repair_notes text, search_text text not null,
    created_at bigint not null, updated_at bigint not null, status_since bigint not null)`,
  'create unique index offline_repairs_number on offline_repairs (shop_id, number)',
  'create index offline_repairs_status on offline_repairs (shop_id, status, number, created_at)',
  'create index offline_repairs_order on offline_repairs (shop_id, order_number, number)',
  'create index offline_repairs_updated on offline_repairs (shop_id, updated_at)',
  'create index offline_repairs_created on offline_repairs (shop_id, created_at)',
  `create index offline_repairs_external_ref on offline_repairs (shop_id, external_ref, number)
    where external_ref is not null`,
  `create table timeline (
    rma_id ${id} not null, at bigint not null, id ${id} not null, type text not null, actor_type text not null,
    actor_id ${id}, actor_name text not null, from_status text, to_status text, note text, data text not null,
    primary key (rma_id, at))`,
  `create table events (
    shop_id ${id} not null, position bigint not null, id ${id} not null, rma_id ${id} not null, event text not null,
    at bigint not null, body text not null, primary key (shop_id, position))`,
  'create unique index events_id on events (id)',
  `create table rma_totals (
    shop_id ${id} not null, kind text not null, origin text not null, status text not null, count bigint not null,
    primary key (shop_id, kind, origin, status))`,
  `create table webhook_deliveries (
    id ${id} primary key not null, receiver_id ${id} not null, rma_id ${id}, event text not null, body text not null,
    status text not null, attempts integer not null, attempt_log text not null, due_at bigint not null,
    created_at bigint not null, finished_at bigint)`,
  `create index webhook_deliveries_waiting on webhook_deliveries (receiver_id, due_at) where status = 'PENDING'`,
  'create index webhook_deliveries_client on webhook_deliveries (receiver_id, id)',
];

const START_MS = Date.UTC(2026, 0, 1);
const STEP_MS = 1000;

export const baselineShop = (n: number): string => seededId(START_MS, n, 'shop');
export const baselineRepair = (n: number): string => seededId(START_MS + n * STEP_MS, n, 'rma');

/** Shops with their counters and totals, so many repairs in the first of them, and so many more in the few after it. */
export const fillBaseline = async (
  database: TestDatabase,
  shops: number,
  repairs: number,
  moving: { shops: number; repairs: number },
): Promise<void> => {
  const words = sqlWords(database.engine);
  for (const statement of TABLES(words.idType)) await database.run(statement);
  await database.run(`insert into shop_counters (shop_id, last_number, month, month_used)
    select ${words.id(String(START_MS), 'n', 'shop')}, ${repairs + moving.repairs}, '2026-01', 0 from ${words.series(shops)}`);
  for (const status of ['OFFLINE_DIAGNOSTICS', 'OFFLINE_REPAIR'])
    await database.run(`insert into rma_totals (shop_id, kind, origin, status, count)
      select ${words.id(String(START_MS), 'n', 'shop')}, 'offline_repairs', 'API', '${status}', ${repairs} from ${words.series(shops)}`);
  const at = `(${START_MS} + n * ${STEP_MS})`;
  const shop = words.id(
    String(START_MS),
    `(case when n <= ${repairs} then 1 else 2 + n % ${moving.shops} end)`,
    'shop',
  );
  const columns = {
    id: words.id(at, 'n', 'rma'),
    shop_id: shop,
    receiver_id: shop,
    number: 'n',
    status: `'OFFLINE_DIAGNOSTICS'`,
    external_ref: `'POS-' || n`,
    external_source: `'till-' || (n % 7)`,
    order_number: `'SO-' || n`,
    customer_email: `'customer' || n || '@example.com'`,
    customer_name: `'Customer ' || n`,
    faulty_item: `'{"sku":"SKU-' || (n % 5000) || '","serialNumber":"SN-' || n
      || '","productName":"Kettle 1.7 l","quantity":1,"price":49.95,"variantTitle":null,"weight":null}'`,
    fault_description: `'Does not heat up any more'`,
    store_id: `'store-' || (n % 40)`,
    is_dangerous: '0',
    search_text: `'so-' || n || ' customer ' || n || ' customer' || n || '@example.com sku-' || (n % 5000)`,
    created_at: at,
    updated_at: at,
    status_since: at,
  };
  await database.run(`insert into offline_repairs (${Object.keys(columns).join(', ')})
    select ${Object.values(columns).join(', ')} from ${words.series(repairs + moving.repairs)}`);
  await settleDown(database);
};
