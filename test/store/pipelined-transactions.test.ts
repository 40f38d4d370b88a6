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

describe('pipelined transactions', () => {
  it('follow one another: the next sees what the one before has written', async () => {
    const database = await openEngine();
    const transaction = database.pipelinedTransactions();
    let second: Promise<number> | null = null;
    const count = () =>
      transaction(async (trx) => {
        const { n } = await trx
          .selectFrom('installation')
          .select((eb) => eb.fn.countAll<number>().as('n'))
          .where('value', '=', 'x')
          .executeTakeFirstOrThrow();
        return { writes: [], result: n };
      });
    await transaction(
      async () => ({ writes: [noting('one', 'two')], result: null }),
      () => {
        second = count();
      },
    );
    expect(await (second ?? count())).toBe(2);
  });

  it('fail alone, whole, and with the reason: the one behind is written', async () => {
    const database = await openEngine();
    const transaction = database.pipelinedTransactions();
    const write = (name: string, sent?: () => void) =>
      transaction(async () => ({ writes: [noting(name)], result: name }), sent);
    await write('taken');
    let behind: Promise<string> | null = null;
    const failing = transaction(
      async () => ({ writes: [noting('first', 'taken')], result: null }),
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
    const transaction = database.pipelinedTransactions();
    await expect(
      transaction(async (trx) => {
        await trx.insertInto('installation').values({ name: 'early', value: 'x' }).execute();
        throw new Error('changed my mind');
      }),
    ).rejects.toThrow('changed my mind');
    await transaction(async () => ({ writes: [noting('later')], result: null }));
    expect(await noted(database)).toEqual(['later']);
  });

  if (ENGINE === 'postgres')
    it('go on with another connection when theirs breaks', async () => {
      const database = await openEngine();
      const transaction = database.pipelinedTransactions();
      const pid = async () =>
        transaction(async (trx) => {
          const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
          return { writes: [], result: rows[0]?.pid ?? 0 };
        });
      const first = await pid();
      const broken = transaction(async () => {
        await sql`select pg_terminate_backend(${first})`.execute(database.db);
        return { writes: [noting('lost')], result: null };
      });
      await expect(broken).rejects.toThrow();
      expect(await pid()).not.toBe(first);
      expect(await noted(database)).toEqual([]);
    });
});
