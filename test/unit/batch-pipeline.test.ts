import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { afterFailure } from '../../src/db/database-errors.ts';
import { batched } from '../../src/lib/batch.ts';

/** Work whose two steps go on when they are told to. */
const stagedWork = () => {
  const batches: { items: number[]; send: () => void; end: () => void; fail: (error: Error) => void }[] = [];
  return {
    batches,
    items: () => batches.map(({ items }) => items),
    work: (items: number[], sent: () => void) =>
      new Promise<number[]>((resolve, reject) => {
        const end = () => resolve(items.map((item) => item * 10));
        batches.push({ items, send: sent, end, fail: reject });
      }),
  };
};

const turns = async (): Promise<void> => {
  for (let i = 0; i < 4; i++) await nextTurn();
};

const watched = (asked: Promise<number>): { result: () => number | null } => {
  let result: number | null = null;
  asked.then(
    (value) => {
      result = value;
    },
    () => {},
  );
  return { result: () => result };
};

describe('a batch that says when its changes are sent', () => {
  it('begins when the one before has sent its changes, not before', async () => {
    const stage = stagedWork();
    const ask = batched(stage.work, { most: 2 });
    void ask(1);
    await turns();
    for (const item of [2, 3, 4]) void ask(item);
    await turns();
    expect(stage.items()).toEqual([[1]]);
    stage.batches[0]?.send();
    await turns();
    expect(stage.items()).toEqual([[1], [2, 3]]);
  });

  it('is answered when it ends, whether or not the next one is under way', async () => {
    const stage = stagedWork();
    const ask = batched(stage.work, { most: 10 });
    const first = watched(ask(1));
    await turns();
    const second = watched(ask(2));
    stage.batches[0]?.send();
    await turns();
    expect(first.result()).toBeNull();
    stage.batches[0]?.end();
    await turns();
    expect(first.result()).toBe(10);
    expect(second.result()).toBeNull();
    stage.batches[1]?.end();
    await turns();
    expect(second.result()).toBe(20);
  });

  it('is answered at once where it ends without a word, and the next follows', async () => {
    const stage = stagedWork();
    const ask = batched(stage.work, { most: 10 });
    const first = watched(ask(1));
    await turns();
    void ask(2);
    stage.batches[0]?.end();
    await turns();
    expect(first.result()).toBe(10);
    expect(stage.items()).toEqual([[1], [2]]);
  });
});

describe('a failure', () => {
  it('of a whole batch is tried again item by item, each by itself, before what came later', async () => {
    const seen: number[][] = [];
    const ask = batched(
      async (items: number[]) => {
        seen.push(items);
        if (items.includes(2)) throw new Error('not two');
        return items;
      },
      { most: 10 },
    );
    const asked = await Promise.allSettled([1, 2, 3].map(ask));
    expect(seen).toEqual([[1, 2, 3], [1], [2], [3]]);
    expect(asked.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('of a batch that has sent its changes does not touch the one behind', async () => {
    const stage = stagedWork();
    const ask = batched(stage.work, { most: 10 });
    const first = ask(1);
    await turns();
    const second = watched(ask(2));
    stage.batches[0]?.send();
    stage.batches[0]?.fail(new Error('no'));
    await expect(first).rejects.toThrow('no');
    stage.batches[1]?.end();
    await turns();
    expect(second.result()).toBe(20);
  });

  it('is not tried again where the database is away', async () => {
    const seen: number[][] = [];
    const ask = batched(
      async (items: number[]): Promise<number[]> => {
        seen.push(items);
        throw Object.assign(new Error('gone'), { code: 'ECONNREFUSED' });
      },
      { most: 10, afterFailure },
    );
    await Promise.allSettled([1, 2].map(ask));
    expect(seen).toEqual([[1, 2]]);
  });
});
