import { OFFLINE_REPAIR_STATUSES, TRADE_RETURN_STATUSES } from '../contract/lifecycle.ts';
import type { Context } from '../src/api/context.ts';
import { createClient } from '../src/api-clients/actions.ts';
import { openContext } from '../src/app/context.ts';
import { readConfig } from '../src/platform/config.ts';
import { createShop } from '../src/shops/actions.ts';
import type { TestDatabase } from './databases.ts';
import { KILOBYTE_EVENT, kilobyteBody } from './kilobyte.ts';
import { seededId, sqlWords } from './sql-words.ts';

// Fills the service's database before it is measured: shops and clients by the service's own actions, RMAs and
// deliveries by statements that make all rows at once. Whatever the service keeps beside an RMA has to be filled here too.

export interface SeededShop {
  id: string;
  clientId: string;
  apiKey: string;
}

export const OPERATOR = { type: 'SYSTEM', id: null, name: 'Operator' } as const;
/** A cap that is checked and never reached. */
const USAGE_CAP = 1_000_000_000;
const AT_ONCE = 50;
const DAY_MS = 86_400_000;
const DAYS = 200;

/** Opens the database as the service does, its schema up to date. */
export const within = async <Result>(
  database: TestDatabase,
  work: (ctx: Context) => Promise<Result>,
): Promise<Result> => {
  const ctx = await openContext(readConfig({ ...database.env, LOG_LEVEL: 'error' }));
  try {
    return await work(ctx);
  } finally {
    await ctx.close();
  }
};

/** Shops with a client each. */
export const seedShops = (
  database: TestDatabase,
  count: number,
  webhookUrl: (i: number) => string | null,
): Promise<SeededShop[]> =>
  within(database, async (ctx) => {
    const shops: SeededShop[] = [];
    while (shops.length < count) {
      const some = Array.from({ length: Math.min(AT_ONCE, count - shops.length) });
      shops.push(...(await Promise.all(some.map((_, i) => seedShop(ctx, webhookUrl(shops.length + i))))));
    }
    return shops;
  });

const seedShop = async (ctx: Context, webhookUrl: string | null): Promise<SeededShop> => {
  const shop = await createShop(ctx, OPERATOR, { name: 'Shop', plan: 'ENTERPRISE', usageCap: USAGE_CAP });
  const client = await createClient(ctx, OPERATOR, { shopId: shop.id, name: 'Till', webhookUrl });
  return { id: shop.id, clientId: client.id, apiKey: client.apiKey };
};

export interface SeededRmas {
  shops: SeededShop[];
  repairs: number;
  /** The id of the n-th repair, from 1. */
  idOf(n: number): string;
  shopOf(n: number): SeededShop;
}

const oneOf = (values: readonly string[], n: string): string =>
  `case ${n} % ${values.length} ${values.map((value, i) => `when ${i} then '${value}'`).join(' ')} end`;

/** One in ten is still under way, in any status; the others have come to their end, as in a shop that has been at it for long. */
const mostlyEnded = (values: readonly string[], ended: string): string =>
  `case when n % 10 = 0 then ${oneOf(values, '(n / 10)')} else '${ended}' end`;

type Columns = Record<string, string>;

/** What the n-th RMA has in SQL, of so many in all. */
const spelled = (database: TestDatabase, shops: SeededShop[], count: number) => {
  const words = sqlWords(database.engine);
  const stepMs = Math.floor((DAYS * DAY_MS) / count);
  const startMs = Date.now() - stepMs * (count + 1);
  const at = `(${startMs} + n * ${stepMs})`;
  const number = `((n - 1) / ${shops.length} + 1)`;
  const asId = (column: string) => (database.engine === 'postgres' ? `cast(${column} as uuid)` : column);
  const list = shops.map((shop, i) => `(${i}, '${shop.id}', '${shop.clientId}')`).join(', ');
  return {
    at,
    id: words.id(at, 'n', 'rma'),
    entryId: words.id(at, 'n', 'entry'),
    number,
    shopId: asId('shop.shop_id'),
    clientId: asId('shop.receiver_id'),
    ref: `'POS-' || (n % ${Math.max(1, Math.floor(count / 25))})`,
    /** With the same words as the service makes of a return; each kind adds its own. */
    searchText: `'#rma-' || ${words.sixDigits(number)} || ' customer ' || n || ' customer' || n
      || '@example.com kettle 1.7 l sku-' || (n % 5000)`,
    idOf: (n: number) => seededId(startMs + n * stepMs, n, 'rma'),
    insert: (table: string, columns: Columns, condition: string) =>
      database.run(`with shop(i, shop_id, receiver_id) as (values ${list})
        insert into ${table} (${Object.keys(columns).join(', ')})
        select ${Object.values(columns).join(', ')} from ${words.series(count)}
        join shop on shop.i = (n - 1) % ${shops.length} where ${condition}`),
  };
};
type Spelled = ReturnType<typeof spelled>;

/** What both kinds have. */
const sharedColumns = ({ id, shopId, clientId, number, ref, at }: Spelled): Columns => ({
  id,
  shop_id: shopId,
  receiver_id: clientId,
  number,
  external_ref: ref,
  external_source: `'till-' || (n % 7)`,
  customer_email: `'customer' || n || '@example.com'`,
  customer_name: `'Customer ' || n`,
  created_at: at,
  updated_at: at,
  status_since: at,
});

const ITEM = `'"productName":"Kettle 1.7 l","quantity":1,"price":49.95,"variantTitle":null,"weight":null}'`;

const repairColumns = (rma: Spelled): Columns => ({
  ...sharedColumns(rma),
  status: mostlyEnded(OFFLINE_REPAIR_STATUSES, 'OFFLINE_CLOSED'),
  order_number: `'SO-' || n`,
  faulty_item: `'{"sku":"SKU-' || (n % 5000) || '","serialNumber":"SN-' || n || '",' || ${ITEM}`,
  fault_description: `'Does not heat up any more'`,
  store_id: `'store-' || (n % 40)`,
  is_dangerous: '0',
  search_text: `${rma.searchText} || ' so-' || n || ' sn-' || n`,
});

const tradeColumns = (rma: Spelled): Columns => ({
  ...sharedColumns(rma),
  status: mostlyEnded(TRADE_RETURN_STATUSES, 'TRADE_RESOLVED'),
  trade_order_number: `'TO-' || n`,
  company_name: `'Company ' || (n % 300)`,
  company_id: `'company-' || (n % 300)`,
  reason: `'Damaged in transit'`,
  items: `'[{"sku":"SKU-' || (n % 5000) || '","tradeLineItemId":null,' || ${ITEM} || ']'`,
  shipping_address: `'{"street":"12 Harbour Road","suburb":"Port Melbourne","state":"VIC","postcode":"3207"}'`,
  search_text: `${rma.searchText} || ' to-' || n || ' company ' || (n % 300)`,
});

const entryColumns = ({ id, entryId, clientId, at }: Spelled, repairs: number): Columns => ({
  rma_id: id,
  at,
  id: entryId,
  type: `'CREATED'`,
  actor_type: `'API_CLIENT'`,
  actor_id: clientId,
  actor_name: `'Till'`,
  to_status: `case when n > ${repairs} then 'TRADE_SUBMITTED' else 'OFFLINE_DIAGNOSTICS' end`,
  data: `'{}'`,
});

/**
 * As many repairs as asked for and, unless asked for more, a tenth as many trade returns, shared out among the shops, over 200 days and all
 * statuses, most of them at their end, 25 with each `externalRef`.
 */
export const seedRmas = async (
  database: TestDatabase,
  shops: SeededShop[],
  repairs: number,
  tradeReturns = Math.floor(repairs / 10),
): Promise<SeededRmas> => {
  const count = repairs + tradeReturns;
  const rma = spelled(database, shops, count);
  const putBack = await takeIndexes(database, ['offline_repairs', 'trade_returns', 'timeline']);
  await Promise.all([
    rma.insert('offline_repairs', repairColumns(rma), `n <= ${repairs}`),
    rma.insert('trade_returns', tradeColumns(rma), `n > ${repairs}`),
    rma.insert('timeline', entryColumns(rma, repairs), '1 = 1'),
  ]);
  await putBack();
  await keepTotals(database);
  await database.run(`update shop_counters set last_number = ${Math.ceil(count / shops.length)}`);
  await settleDown(database);
  return {
    shops,
    repairs,
    idOf: rma.idOf,
    shopOf: (n) => shops[(n - 1) % shops.length] as SeededShop,
  };
};

/** Takes the tables' indexes away and gives back how to make them anew: sorting once is quicker than a million look-ups. */
const takeIndexes = async (database: TestDatabase, tables: string[]): Promise<() => Promise<void>> => {
  const named = tables.map((table) => `'${table}'`).join(', ');
  const indexes = await database.run(
    database.engine === 'postgres'
      ? `select indexname as name, indexdef as sql from pg_indexes
         where tablename in (${named}) and indexname not like '%_pkey'`
      : `select name, sql from sqlite_master where type = 'index' and tbl_name in (${named}) and sql is not null`,
  );
  for (const { name } of indexes) await database.run(`drop index ${name}`);
  const setting = database.engine === 'postgres' ? `set maintenance_work_mem = '256MB'; ` : '';
  return async () => {
    for (const { sql } of indexes) await database.run(setting + sql);
  };
};

/** How many there are of each sort, as the service keeps it. */
const keepTotals = async (database: TestDatabase): Promise<void> => {
  for (const kind of ['offline_repairs', 'trade_returns'])
    await database.run(`insert into rma_totals (shop_id, kind, origin, status, count)
      select shop_id, '${kind}', 'API', status, count(*) from ${kind} group by shop_id, status`);
};

/**
 * Deliveries that are due at once, shared out among the receivers, each with a body of a kilobyte. The service learns of
 * them when it next looks.
 */
export const seedDeliveries = async (
  database: TestDatabase,
  receivers: SeededShop[],
  count: number,
): Promise<void> => {
  const words = sqlWords(database.engine);
  const now = Date.now();
  const id = words.id(String(now), 'n', 'delivery');
  const list = receivers.map(({ clientId }, i) => `(${i}, '${clientId}')`).join(', ');
  const asId = (column: string) => (database.engine === 'postgres' ? `cast(${column} as uuid)` : column);
  await database.run(`with receiver(i, receiver_id) as (values ${list})
    insert into webhook_deliveries
      (id, receiver_id, rma_id, event, body, status, attempts, attempt_log, due_at, created_at)
    select ${id}, ${asId('receiver.receiver_id')}, ${id}, '${KILOBYTE_EVENT}', '${kilobyteBody()}', 'PENDING', 0, '[]',
      ${now}, ${now}
    from ${words.series(count)} join receiver on receiver.i = n % ${receivers.length}`);
};

/** Deliveries of the last minutes to one client, which have all arrived. */
export const seedDelivered = async (
  database: TestDatabase,
  { clientId }: SeededShop,
  count: number,
): Promise<void> => {
  const words = sqlWords(database.engine);
  const at = `(${Date.now() - count} + n)`;
  const client = database.engine === 'postgres' ? `cast('${clientId}' as uuid)` : `'${clientId}'`;
  const id = words.id(at, 'n', 'delivery');
  await database.run(`insert into webhook_deliveries
      (id, receiver_id, rma_id, event, body, status, attempts, attempt_log, due_at, created_at, finished_at)
    select ${id}, ${client}, ${id}, '${KILOBYTE_EVENT}', '', 'DELIVERED', 1, '[]', ${at}, ${at}, ${at}
    from ${words.series(count)}`);
};

export const waitingDeliveries = async (database: TestDatabase): Promise<number> => {
  const [row] = await database.run(
    `select count(*) as count from webhook_deliveries where status = 'PENDING'`,
  );
  return Number(row?.['count']);
};

/** What a database does by itself some time after so many rows came in. */
export const settleDown = async (database: TestDatabase): Promise<void> => {
  if (database.engine === 'sqlite') {
    await database.run('pragma optimize(0x10012)');
    await database.run('pragma wal_checkpoint(truncate)');
    return;
  }
  await database.run('vacuum analyze');
  await database.run('checkpoint');
};
