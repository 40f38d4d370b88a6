import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { afterFailure, isUnavailable } from '../../src/db/database-errors.ts';
import { AGAIN, batched, QueueTimeout } from '../../src/lib/batch.ts';

const DEADLOCK = Object.assign(new Error('deadlock detected'), { code: '40P01', severity: 'ERROR' });

/** `performance.now()` as the test says. */
const movableTime = () => {
  const start = performance.now();
  let ms = 0;
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => start + ms);
  onTestFinished(() => void spy.mockRestore());
  return {
    advance(by: number) {
      ms += by;
    },
  };
};

const batcher = <Item, Result>(work: (items: Item[]) => Promise<Result[]>) =>
  batched(work, { most: 10, afterFailure });

describe('a batch', () => {
  it('tries a batch again, one by one, that met a deadlock', async () => {
    const batches: number[][] = [];
    const ask = batcher(async (items: number[]) => {
      batches.push(items);
      if (items.length > 1) throw DEADLOCK;
      return items.map((item) => item * 10);
    });
    expect(await Promise.all([1, 2, 3].map(ask))).toEqual([10, 20, 30]);
    expect(batches).toEqual([[1, 2, 3], [1], [2], [3]]);
  });

  it('gives up on what meets one again and again, and says that it is worth trying later', async () => {
    let tries = 0;
    const ask = batcher(async () => {
      tries += 1;
      throw DEADLOCK;
    });
    const failure = await ask(1).catch((error: unknown) => error);
    expect(isUnavailable(failure)).toBe(true);
    expect(tries).toBe(3);
  });

  it('turns away who has waited too long, when its turn comes', async () => {
    const time = movableTime();
    const first = Promise.withResolvers<void>();
    const batches: number[][] = [];
    const ask = batcher(async (items: number[]) => {
      batches.push(items);
      if (items.includes(1)) await first.promise;
      return items;
    });
    const one = ask(1);
    await nextTurn();
    const late = ask(2).catch((error: unknown) => error);
    time.advance(3_000);
    const fresh = ask(3);
    first.resolve();
    expect(await one).toBe(1);
    expect(await late).toBeInstanceOf(QueueTimeout);
    expect(await fresh).toBe(3);
    expect(batches).toEqual([[1], [3]]);
  });

  it('keeps what says so in the queue, and gives it up at its deadline', async () => {
    const time = movableTime();
    let tries = 0;
    const ask = batched<number, number>(
      async (items) => {
        tries += 1;
        if (tries === 3) time.advance(3_000);
        return items.map((item) => (item === 1 ? AGAIN : item));
      },
      { most: 10 },
    );
    const asked = [ask(1), ask(2)];
    expect(await asked[1]).toBe(2);
    await expect(asked[0]).rejects.toBeInstanceOf(QueueTimeout);
    expect(tries).toBe(3);
  });

  it('turns away at once who finds it full', async () => {
    const ask = batcher(() => new Promise<number[]>(() => {}));
    const asked = Array.from({ length: 5_001 }, (_, i) => ask(i));
    for (const each of asked) each.catch(() => {});
    await expect(asked.at(-1)).rejects.toBeInstanceOf(QueueTimeout);
  });
});
