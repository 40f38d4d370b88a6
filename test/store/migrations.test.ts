import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { initial } from '../../src/db/migrations/0001-initial.ts';
import { webhookDeliveries } from '../../src/db/migrations/0002-webhook-deliveries.ts';
import { tradeReturns } from '../../src/db/migrations/0003-trade-returns.ts';
import { events } from '../../src/db/migrations/0009-events.ts';
import { workbench } from '../../src/db/migrations/0012-workbench.ts';
import { productNames } from '../../src/db/migrations/0015-product-names.ts';
import { openDatabase } from '../../src/db/open.ts';
import { SCHEMA_WORDS as postgresWords } from '../../src/db/postgres/schema-words.ts';
import type { SchemaWords } from '../../src/db/schema-change.ts';
import { SCHEMA_WORDS as sqliteWords } from '../../src/db/sqlite/schema-words.ts';
import { UNKNOWN_ID } from '../support/api.ts';
import { ENGINE } from '../support/harness.ts';
import { onServer } from '../support/postgres-databases.ts';
import { type Env, emptyDatabase } from '../support/process.ts';
import { UNOBSERVED } from '../support/unobserved.ts';

const WORDS: SchemaWords = {
  ...(ENGINE === 'postgres' ? postgresWords : sqliteWords),
  notice: () => {},
};

const open = (env: Env) => {
  const database = openDatabase(readConfig(env), UNOBSERVED);
  onTestFinished(() => database.close());
  return database;
};

it('repairs from before there was a search are found by their number as people read it', async () => {
  const { db } = open(await emptyDatabase());
  await initial(db, WORDS);
  await webhookDeliveries(db, WORDS);
  for (const [i, number] of [7, 123, 999_999, 1_234_567].entries())
    await sql`insert into offline_repairs (id, shop_id, number, status, order_number, customer_email, customer_name, faulty_item,
      fault_description, store_id, is_dangerous, created_at, updated_at)
      values (${UNKNOWN_ID.replace(/.$/, String(i))}, ${UNKNOWN_ID}, ${number}, 'OFFLINE_REPAIR', 'SO-1', 'Ada@example.com', 'Ada',
      '{"sku":"KETTLE-17"}', 'x', 's', 0, 1, 1)`.execute(db);
  await tradeReturns(db, WORDS);
  const rows = await db.selectFrom('offline_repairs').select('search_text').orderBy('number').execute();
  expect(rows.map((row) => row.search_text.split(' ')[0])).toEqual([
    ...['#rma-000007', '#rma-000123', '#rma-999999', '#rma-1234567'],
  ]);
  expect(rows[0]?.search_text).toContain('ada@example.com');
});

it('returns from before are found by reference, tracking number and phone, and have a status since then', async () => {
  const { db } = open(await emptyDatabase());
  for (const change of [initial, webhookDeliveries, tradeReturns, events]) await change(db, WORDS);
  for (const [i, phone] of ['+44 (20) 7946-0018', null].entries())
    await sql`insert into offline_repairs (id, shop_id, number, status, order_number, customer_email, customer_name, customer_phone,
      faulty_item, fault_description, store_id, is_dangerous, external_ref, tracking_number, search_text, created_at, updated_at)
      values (${UNKNOWN_ID.replace(/.$/, String(i))}, ${UNKNOWN_ID}, ${i + 1}, 'OFFLINE_REPAIR', 'SO-1', 'a@example.com', 'Ada',
      ${phone}, '{}', 'x', 's', 0, ${phone && 'POS-88213'}, ${phone && 'JD014'}, '#rma-00000', 1, 5)`.execute(
      db,
    );
  await workbench(db, WORDS);
  const rows = await db
    .selectFrom('offline_repairs')
    .select(['search_text', 'status_since', 'assignee_id'])
    .orderBy('number')
    .execute();
  expect(rows).toEqual([
    {
      search_text: '#rma-00000 pos-88213 jd014 +44 (20) 7946-0018 442079460018',
      status_since: 5,
      assignee_id: null,
    },
    { search_text: '#rma-00000', status_since: 5, assignee_id: null },
  ]);
});

it('returns from before are found by the names of their products, and damaged ones stay as they are', async () => {
  const { db } = open(await emptyDatabase());
  for (const change of [initial, webhookDeliveries, tradeReturns]) await change(db, WORDS);
  const id = (end: number) => UNKNOWN_ID.replace(/.$/, String(end));
  for (const [i, item] of ['{"productName":"Kettle \\"Nova\\""}', '{"productName":', '{}'].entries())
    await sql`insert into offline_repairs (id, shop_id, number, status, order_number, customer_email, customer_name,
      faulty_item, fault_description, store_id, is_dangerous, search_text, created_at, updated_at)
      values (${id(i)}, ${UNKNOWN_ID}, ${i}, 'OFFLINE_REPAIR', 'SO-1', 'a@example.com', 'Ada', ${item}, 'x', 's', 0, 'old', 1, 1)`.execute(
      db,
    );
  const lists = [
    '[{"productName":"Oak Lamp"},{"productName":"Oak Lamp"},7,null,{}]',
    '{"a":[1]}',
    '[{',
    '[]',
  ];
  for (const [i, items] of lists.entries())
    await sql`insert into trade_returns (id, shop_id, number, status, trade_order_number, customer_email, customer_name,
      company_name, company_id, reason, items, shipping_address, search_text, created_at, updated_at)
      values (${id(i)}, ${UNKNOWN_ID}, ${i}, 'TRADE_SUBMITTED', 'TO-1', 'a@example.com', 'Ada', 'Co', '1', 'x', ${items}, '{}', 'old',
      1, 1)`.execute(db);
  await productNames(db, WORDS);
  const texts = async (table: 'offline_repairs' | 'trade_returns') =>
    (await db.selectFrom(table).select('search_text').orderBy('number').execute()).map(
      (row) => row.search_text,
    );
  expect(await texts('offline_repairs')).toEqual(['old kettle "nova"', 'old', 'old']);
  expect(await texts('trade_returns')).toEqual(['old oak lamp', 'old', 'old', 'old']);
});

describe.runIf(ENGINE === 'postgres')('the search index', () => {
  const hasIndex = async (env: Env) => {
    const { rows } = await sql`select 1 from pg_indexes where indexname = 'offline_repairs_search'`.execute(
      open(env).db,
    );
    return rows.length > 0;
  };

  it('is left out, with a word to the operator, where the user may not create the extension', async () => {
    const env = await emptyDatabase();
    const role = `limited_${randomBytes(6).toString('hex')}`;
    const own = env['DATABASE_URL'] as string;
    const url = new URL(own);
    const name = url.pathname.slice(1);
    await onServer(inject('postgresUrl'), `create role ${role} login`);
    onTestFinished(() => onServer(own, `drop owned by ${role}; drop role ${role}`));
    await onServer(
      own,
      `revoke create on database ${name} from public; grant create on schema public to ${role}`,
    );
    url.username = role;
    const notices: string[] = [];
    await open({ ...env, DATABASE_URL: url.href }).migrate((message) => notices.push(message));
    expect(notices).toEqual([expect.stringMatching(/pg_trgm.*42501.*searches/)]);
    expect(await hasIndex(env)).toBe(false);
  });

  it('fails the migration where anything else is wrong', async () => {
    const env = await emptyDatabase();
    const database = open(env);
    await sql`create table trade_returns_search (x int)`.execute(database.db);
    await expect(database.migrate()).rejects.toMatchObject({ code: '42P07' });
    await sql`drop table trade_returns_search`.execute(database.db);
    await database.migrate();
    expect(await hasIndex(env)).toBe(true);
  });
});

describe('a database that another release has migrated', () => {
  const addChange = (env: Env, name: string) =>
    sql`insert into kysely_migration (name, timestamp) values (${name}, ${new Date().toISOString()})`.execute(
      open(env).db,
    );

  it('is taken as it is where that release is a later one', async () => {
    const env = await emptyDatabase();
    await open(env).migrate();
    await addChange(env, '9998-of-a-later-release');
    await addChange(env, '9999-of-a-later-release');
    await open(env).migrate();
    const { rows } = await sql`select 1 from kysely_migration where name > '9'`.execute(open(env).db);
    expect(rows).toHaveLength(2);
  });

  it('is refused where a change stands among ours that we do not know', async () => {
    const env = await emptyDatabase();
    await open(env).migrate();
    await addChange(env, '0001-of-somebody-else');
    await expect(open(env).migrate()).rejects.toThrow('0001-of-somebody-else');
  });
});
