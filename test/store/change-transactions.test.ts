import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Database, Insertion } from '../../src/db/database.ts';
import { openEngine } from '../support/database.ts';
import { ENGINE } from '../support/harness.ts';

const noting = (...names: string[]): Insertion => ({
  table: 'installation',
  rows: names.map((name) => ({ name, value: 'x' })),
});

const noted = async ({ db }: Database): Promise<string[]> => {
  const rows = await db
    .selectFrom('installation')
    .select('name')
    .where('value', '=', 'x')
    .orderBy('name')
    .execute();
  return rows.map(({ name }) => name);
};

const counting = ({ db }: Database) =>
  db
    .selectFrom('installation')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('value', '=', 'x')
    .compile();

const count = (database: Database): Promise<unknown> =>
  database.changeTransactions.pipelined([counting(database)], ([rows]) => ({ writes: [], result: rows }));

describe('pipelined transactions', () => {
  it('follow one another: the next sees what the one before has written', async () => {
    const database = await openEngine();
    let second: Promise<unknown> | null = null;
    await database.changeTransactions.pipelined(
      [],
      () => ({ writes: [noting('one', 'two')], result: null }),
      () => {
        second = count(database);
      },
    );
    expect(await (second ?? count(database))).toEqual([{ n: 2 }]);
  });

  it('fail alone, whole, and with the reason: the one behind is written', async () => {
    const database = await openEngine();
    const write = (name: string) =>
      database.changeTransactions.pipelined([], () => ({ writes: [noting(name)], result: name }));
    await write('taken');
    let behind: Promise<string> | null = null;
    const failing = database.changeTransactions.pipelined(
      [],
      () => ({ writes: [noting('first', 'taken')], result: null }),
      () => {
        behind = write('behind');
      },
    );
    await expect(failing).rejects.toThrow(/unique|duplicate/i);
    await (behind ?? write('behind'));
    expect(await noted(database)).toEqual(['behind', 'taken']);
  });

  it('write nothing where deciding fails, and the next goes on', async () => {
    const database = await openEngine();
    const { pipelined } = database.changeTransactions;
    const failing = pipelined([counting(database)], () => {
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    await pipelined([], () => ({ writes: [noting('later')], result: null }));
    expect(await noted(database)).toEqual(['later']);
  });

  it('update rows with what each of them changes', async () => {
    const database = await openEngine();
    const { pipelined } = database.changeTransactions;
    await pipelined([], () => ({ writes: [noting('one', 'two', 'three')], result: null }));
    const shop = { id: '019a8c1e-7a54-7cc1-9a3e-5b1f0c7d2e44', name: 'Shop', plan: 'SCALE' };
    const at = { created_at: 1, updated_at: 1 };
    await database.db
      .insertInto('shops')
      .values({ ...shop, ...at, subscription: 'active' })
      .execute();
    const after = { ...shop, allowance: 7, updated_at: 2 };
    const rows = [{ id: shop.id, set: { allowance: 7, updated_at: 2 }, after }];
    const columns = ['name', 'allowance', 'updated_at'];
    await pipelined([], () => ({
      writes: [{ updated: 'shops', columns, longColumns: ['name'], rows }],
      result: null,
    }));
    expect(
      await database.db.selectFrom('shops').select(['name', 'allowance', 'updated_at']).execute(),
    ).toEqual([{ name: 'Shop', allowance: 7, updated_at: 2 }]);
  });

  if (ENGINE === 'postgres') {
    it('go on with another connection when theirs breaks', async () => {
      const database = await openEngine();
      const { pipelined } = database.changeTransactions;
      const backend = sql<{ pid: number }>`select pg_backend_pid() as pid`.compile(database.db);
      const pid = () => pipelined([backend], ([rows]) => ({ writes: [], result: rows }));
      const [first] = (await pid()) as { pid: number }[];
      const killed = sql`select pg_terminate_backend(${first?.pid})`.compile(database.db);
      await expect(pipelined([killed], () => ({ writes: [noting('lost')], result: null }))).rejects.toThrow();
      expect(await pid()).not.toEqual([first]);
      expect(await noted(database)).toEqual([]);
    });

    it('run their reads in the order of the list: what the first locks is locked before the second looks', async () => {
      const database = await openEngine();
      await database.db.insertInto('installation').values({ name: 'lock', value: 'y' }).execute();
      const { promise: isHeld, resolve: hold } = Promise.withResolvers<void>();
      const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
      const holding = database.db.transaction().execute(async (trx) => {
        await trx.updateTable('installation').set({ value: 'z' }).where('name', '=', 'lock').execute();
        hold();
        await isReleased;
        await trx.insertInto('installation').values({ name: 'late', value: 'x' }).execute();
      });
      await isHeld;
      const locking = database.db
        .selectFrom('installation')
        .select('value')
        .where('name', '=', 'lock')
        .forUpdate()
        .compile();
      const reads = [locking, counting(database)];
      const reading = database.changeTransactions.waiting(reads, (answers) => ({
        writes: [],
        result: answers,
      }));
      release();
      await holding;
      expect(await reading).toEqual([[{ value: 'z' }], [{ n: 1 }]]);
    });
  }
});
