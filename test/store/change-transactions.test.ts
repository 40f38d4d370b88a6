// engines: sqlite, postgres

import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Database, Insertion } from '../../src/db/types.ts';
import { openEngine } from '../support/database.ts';
import { ONLY_POSTGRES } from '../support/engines.ts';

const it = test.extend('database', () => openEngine());

const noting = (...names: string[]): Insertion => ({
  table: 'installation',
  rows: names.map((name) => ({ name, value: 'x' })),
});
const write = ({ changeTransactions }: Database, names: string[], onSent = () => {}) =>
  changeTransactions.pipelined([], () => ({ writes: [noting(...names)], result: null }), onSent);
const noted = async ({ db }: Database): Promise<string[]> => {
  const { rows } = await sql<{ name: string }>`
    select name from installation where value = 'x' order by name`.execute(db);
  return rows.map(({ name }) => name);
};
const counting = ({ db }: Database) =>
  sql<{ n: number }>`select cast(count(*) as integer) as n from installation where value = 'x'`.compile(db);
const count = (database: Database): Promise<unknown> =>
  database.changeTransactions.pipelined([counting(database)], ([rows]) => ({ writes: [], result: rows }));

describe('pipelined transactions', () => {
  it('run in order: the next one sees the writes of the one before', async ({ database }) => {
    let second: Promise<unknown> | null = null;
    await write(database, ['one', 'two'], () => {
      second = count(database);
    });
    expect(await (second ?? count(database))).toEqual([{ n: 2 }]);
  });

  it('fail alone, completely and with the reason, and the next one commits', async ({ database }) => {
    await write(database, ['taken']);
    let behind: Promise<unknown> | null = null;
    const failing = write(database, ['first', 'taken'], () => {
      behind = write(database, ['behind']);
    });
    await expect(failing).rejects.toThrow(/unique|duplicate/i);
    await (behind ?? write(database, ['behind']));
    expect(await noted(database)).toEqual(['behind', 'taken']);
  });

  it('write nothing if deciding fails, and the next one continues', async ({ database }) => {
    const failing = database.changeTransactions.pipelined([counting(database)], () => {
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    await write(database, ['later']);
    expect(await noted(database)).toEqual(['later']);
  });

  it('update each row with its own changes', async ({ database }) => {
    const { db, changeTransactions } = database;
    const shop = { id: '019a8c1e-7a54-7cc1-9a3e-5b1f0c7d2e44', name: 'Shop', plan: 'SCALE' };
    const row = { ...shop, created_at: 1, updated_at: 1, subscription: 'active' as const };
    await db.insertInto('shops').values(row).execute();
    const set = { allowance: 7, updated_at: 2 };
    const rows = [{ id: shop.id, set, after: { ...row, factor_required: 0, ...set } }];
    const update = { updated: 'shops', rows } as const;
    await changeTransactions.pipelined([], () => ({ writes: [update], result: null }));
    const after = await db.selectFrom('shops').select(['name', 'allowance', 'updated_at']).execute();
    expect(after).toEqual([{ name: 'Shop', ...set }]);
  });

  it('continue on another connection when theirs breaks', ONLY_POSTGRES, async ({ database }) => {
    const { pipelined } = database.changeTransactions;
    const backend = sql<{ pid: number }>`select pg_backend_pid() as pid`.compile(database.db);
    const pid = () => pipelined([backend], ([rows]) => ({ writes: [], result: rows }));
    const [first] = (await pid()) as { pid: number }[];
    const killed = sql`select pg_terminate_backend(${first?.pid})`.compile(database.db);
    await expect(pipelined([killed], () => ({ writes: [noting('lost')], result: null }))).rejects.toThrow();
    expect(await pid()).not.toEqual([first]);
    expect(await noted(database)).toEqual([]);
  });

  it('run their reads in order: a lock is held before the next read', ONLY_POSTGRES, async ({ database }) => {
    const { db, changeTransactions } = database;
    await sql`insert into installation (name, value) values ('lock', 'y')`.execute(db);
    const { reading } = await db.transaction().execute(async (trx) => {
      await sql`update installation set value = 'z' where name = 'lock'`.execute(trx);
      const locking = sql`select value from installation where name = 'lock' for update`.compile(db);
      const reads = [locking, counting(database)];
      const started = changeTransactions.waiting(reads, (responses) => ({ writes: [], result: responses }));
      await sql`insert into installation (name, value) values ('late', 'x')`.execute(trx);
      return { reading: started };
    });
    expect(await reading).toEqual([[{ value: 'z' }], [{ n: 1 }]]);
  });
});
