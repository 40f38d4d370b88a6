import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { afterFailure } from '../../src/db/database-errors.ts';
import { batched } from '../../src/lib/batch.ts';

/** Work that goes on when it is told to, and remembers which batches it got. */
const stagedWork = () => {
  const batches: number[][] = [];
  const ends: (() => void)[] = [];
  return {
    batches,
    work: async (items: number[]) => {
      batches.push(items);
      await new Promise<void>((resolve) => ends.push(resolve));
      return items.map((item) => item * 10);
    },
    async endNext() {
      ends.shift()?.();
      // Once for the results, once for the batch that follows.
      await nextTurn();
      await nextTurn();
    },
  };
};

describe('what is asked for', () => {
  it('in one turn of the event loop shares a batch, and each gets its own result', async () => {
    const stage = stagedWork();
    const ask = batched(stage.work, { most: 10 });
    const asked = [1, 2, 3].map(ask);
    await nextTurn();
    expect(stage.batches).toEqual([[1, 2, 3]]);
    await stage.endNext();
    expect(await Promise.all(asked)).toEqual([10, 20, 30]);
  });

  it('while a batch is under way waits for the next one, in its order, never more than fit', async () => {
    const stage = stagedWork();
    const ask = batched(stage.work, { most: 2 });
    const asked = [ask(1)];
    await nextTurn();
    asked.push(...[2, 3, 4].map(ask));
    await nextTurn();
    expect(stage.batches).toEqual([[1]]);
    await stage.endNext();
    expect(stage.batches).toEqual([[1], [2, 3]]);
    await stage.endNext();
    await stage.endNext();
    expect(stage.batches).toEqual([[1], [2, 3], [4]]);
    expect(await Promise.all(asked)).toEqual([10, 20, 30, 40]);
  });

  it('does not wait where another batch may run beside', async () => {
    const stage = stagedWork();
    const ask = batched(stage.work, { most: 10, atOnce: 2 });
    const asked = [ask(1)];
    await nextTurn();
    asked.push(ask(2));
    await nextTurn();
    expect(stage.batches).toEqual([[1], [2]]);
    await stage.endNext();
    await stage.endNext();
    expect(await Promise.all(asked)).toEqual([10, 20]);
  });
});

describe('a failure', () => {
  const outcomes = async (asked: Promise<number>[]) =>
    (await Promise.allSettled(asked)).map((each) =>
      each.status === 'fulfilled' ? each.value : (each.reason as Error).message,
    );

  it('of one item is its own', async () => {
    const ask = batched(
      async (items: number[]) => items.map((item) => (item === 2 ? new Error('not two') : item)),
      { most: 10 },
    );
    expect(await outcomes([1, 2, 3].map(ask))).toEqual([1, 'not two', 3]);
  });

  it('of a whole batch is tried again item by item, so that only the bad one fails', async () => {
    const batches: number[][] = [];
    const ask = batched(
      async (items: number[]) => {
        batches.push(items);
        if (items.includes(2)) throw new Error('not two');
        return items;
      },
      { most: 10 },
    );
    expect(await outcomes([1, 2, 3].map(ask))).toEqual([1, 'not two', 3]);
    expect(batches).toEqual([[1, 2, 3], [1], [2], [3]]);
  });

  it('because the database is away is told to all at once', async () => {
    let calls = 0;
    const ask = batched(
      async (_items: number[]): Promise<number[]> => {
        calls += 1;
        throw Object.assign(new Error('gone'), { code: 'ECONNREFUSED' });
      },
      { most: 10, afterFailure },
    );
    expect(await outcomes([1, 2, 3].map(ask))).toEqual(['gone', 'gone', 'gone']);
    expect(calls).toBe(1);
  });
});
