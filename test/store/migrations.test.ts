import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { readConfig } from '../../src/config.ts';
import type { Db } from '../../src/db/database.ts';
import { migrateTo } from '../../src/db/migrate.ts';
import { initial } from '../../src/db/migrations/0001-initial.ts';
import { webhookDeliveries } from '../../src/db/migrations/0002-webhook-deliveries.ts';
import { tradeReturns } from '../../src/db/migrations/0003-trade-returns.ts';
import { events } from '../../src/db/migrations/0009-events.ts';
import { workbench } from '../../src/db/migrations/0012-workbench.ts';
import { openDatabase } from '../../src/db/open.ts';
import { SCHEMA_WORDS as postgresWords } from '../../src/db/postgres/schema-words.ts';
import type { SchemaWords } from '../../src/db/schema-change.ts';
import { SCHEMA_WORDS as sqliteWords } from '../../src/db/sqlite/schema-words.ts';
import { lowestId } from '../../src/ids.ts';
import { renewSearchTexts } from '../../src/rma/renew-search-texts.ts';
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

describe('returns from before product names were searched', () => {
  const NOW = Date.UTC(2026, 10, 16);
  const DAY_MS = 86_400_000;
  const addRepair = (db: Db, atMs: number, item: string) =>
    sql`insert into offline_repairs (id, shop_id, number, status, order_number, customer_email, customer_name, faulty_item,
      fault_description, store_id, is_dangerous, search_text, created_at, updated_at)
      values (${lowestId(atMs)}, ${UNKNOWN_ID}, ${atMs % 100_000}, 'OFFLINE_REPAIR', 'SO-1', 'a@example.com', 'Ada', ${item}, 'x', 's',
      0, 'old', 1, 1)`.execute(db);
  const addTradeReturn = (db: Db, atMs: number, items: string) =>
    sql`insert into trade_returns (id, shop_id, number, status, trade_order_number, customer_email, customer_name, company_name,
      company_id, reason, items, shipping_address, search_text, created_at, updated_at)
      values (${lowestId(atMs)}, ${UNKNOWN_ID}, ${atMs % 100_000}, 'TRADE_SUBMITTED', 'TO-1', 'a@example.com', 'Ada', 'Co', '1', 'x',
      ${items}, '{}', 'old', 1, 1)`.execute(db);
  const textsOf = async (db: Db, table: 'offline_repairs' | 'trade_returns') =>
    (await db.selectFrom(table).select('search_text').orderBy('id').execute()).map((row) => row.search_text);
  const renewAll = async (db: Db, nowMs: number): Promise<number> => {
    let steps = 1;
    while (await renewSearchTexts({ withoutFsync: db }, nowMs)) steps += 1;
    return steps;
  };
  const notes = (db: Db) =>
    db.selectFrom('installation').select('name').where('name', 'like', 'search-texts%').execute();

  it('are found by them once their texts are renewed, some at a time; damaged ones by the rest', async () => {
    const { db } = open(await emptyDatabase());
    await migrateTo(db, WORDS, '0014-access');
    const items = ['{"productName":"Kettle \\"Nova\\""}', '{"productName":', '{}'];
    for (let i = 0; i < 120; i++) await addRepair(db, NOW - 2 * DAY_MS + i, items[i % 3] as string);
    const lists = ['[{"productName":"Oak Lamp"},{"productName":"Oak Lamp"},{"sku":7}]', '[{', '[]'];
    for (const [i, list] of lists.entries()) await addTradeReturn(db, NOW - 2 * DAY_MS + i, list);
    await migrateTo(db, WORDS, null);
    expect(await textsOf(db, 'trade_returns')).toEqual(['old', 'old', 'old']);

    expect(await renewAll(db, NOW)).toBeGreaterThan(2);
    const repairs = await textsOf(db, 'offline_repairs');
    expect(repairs.every((text) => text.includes(' so-1 '))).toBe(true);
    expect(repairs.map((text) => text.includes(' kettle "nova" '))).toEqual(
      repairs.map((_, i) => i % 3 === 0),
    );
    const [whole, ...damaged] = await textsOf(db, 'trade_returns');
    expect(whole).toMatch(/ to-1 co 1 oak lamp ada /);
    expect(damaged.every((text) => text.includes(' to-1 co 1 '))).toBe(true);
  });

  it('are looked for for a week: so long processes of the release before may run', async () => {
    const { db } = open(await emptyDatabase());
    await migrateTo(db, WORDS, '0014-access');
    await addRepair(db, 1, '{}');
    await migrateTo(db, WORDS, null);
    const now = Date.now();
    await renewAll(db, now);
    await addRepair(db, now - 1, '{"productName":"Kettle"}');
    await renewAll(db, now + 2 * DAY_MS);
    expect((await textsOf(db, 'offline_repairs')).at(-1)).toContain(' kettle ');
    expect(await notes(db)).toHaveLength(1);
    await renewAll(db, now + 8 * DAY_MS);
    expect(await notes(db)).toEqual([]);
  });

  it('are none in a new database, where nothing is looked for', async () => {
    const { db } = open(await emptyDatabase());
    await migrateTo(db, WORDS, null);
    expect(await notes(db)).toEqual([]);
  });
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
