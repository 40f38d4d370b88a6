import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { afterFailure, isUnavailable } from '../../src/db/database-errors.ts';
import { AGAIN, batched, QueueTimeout } from '../../src/lib/batch.ts';
import { timeLimit } from '../../src/lib/time-limits.ts';

const turns = async (): Promise<void> => {
  for (let i = 0; i < 4; i++) await nextTurn();
};

/** Work whose steps continue when the test says so, and which records its batches. */
const stagedWork = () => {
  const batches: { items: number[]; send(): void; end(): void; fail(error: Error): void }[] = [];
  return {
    items: () => batches.map(({ items }) => items),
    /** Ends the nth batch, lets it report that its changes are sent, or fails it. */
    async step(n: number, what: 'send' | 'end' | 'fail') {
      batches[n]?.[what](new Error('no'));
      await turns();
    },
    work: (items: number[], sent: () => void) =>
      new Promise<number[]>((resolve, reject) => {
        const end = () => resolve(items.map((item) => item * 10));
        batches.push({ items, send: sent, end, fail: reject });
      }),
  };
};

/** The outcome so far: a result, the message of an error, or null. */
const outcomeOf = (asked: Promise<number>) => {
  let outcome: number | string | null = null;
  asked.then(
    (value) => {
      outcome = value;
    },
    (error: Error) => {
      outcome = error.message;
    },
  );
  return () => outcome;
};

describe('a request', () => {
  it('shares a batch with others of the same event loop turn, and gets its own result', async () => {
    const { items, work, step } = stagedWork();
    const asked = [1, 2, 3].map(batched(work, { most: 10 }));
    await turns();
    expect(items()).toEqual([[1, 2, 3]]);
    await step(0, 'end');
    expect(await Promise.all(asked)).toEqual([10, 20, 30]);
  });

  it('waits for the next batch while one runs, in order and within its size', async () => {
    const { items, work, step } = stagedWork();
    const ask = batched(work, { most: 2 });
    const asked = [ask(1)];
    await turns();
    asked.push(...[2, 3, 4].map(ask));
    await turns();
    expect(items()).toEqual([[1]]);
    for (const n of [0, 1, 2]) await step(n, 'end');
    expect(items()).toEqual([[1], [2, 3], [4]]);
    expect(await Promise.all(asked)).toEqual([10, 20, 30, 40]);
  });

  it('does not wait if another batch may run concurrently', async () => {
    const { items, work } = stagedWork();
    const ask = batched(work, { most: 10, atOnce: 2 });
    void ask(1);
    await turns();
    void ask(2);
    await turns();
    expect(items()).toEqual([[1], [2]]);
  });
});

describe('a batch that reports when its changes are sent', () => {
  const setUp = async () => {
    const stage = stagedWork();
    const ask = batched(stage.work, { most: 10 });
    const first = outcomeOf(ask(1));
    await turns();
    const second = outcomeOf(ask(2));
    await turns();
    return { ...stage, first, second };
  };

  it('lets the next one start then, and resolves when it ends itself', async () => {
    const { items, step, first, second } = await setUp();
    expect(items()).toEqual([[1]]);
    await step(0, 'send');
    expect(items()).toEqual([[1], [2]]);
    expect(first()).toBeNull();
    await step(0, 'end');
    expect([first(), second()]).toEqual([10, null]);
    await step(1, 'end');
    expect(second()).toBe(20);
  });

  it('resolves if it ends without the report, and the next one follows', async () => {
    const { items, step, first } = await setUp();
    await step(0, 'end');
    expect(first()).toBe(10);
    expect(items()).toEqual([[1], [2]]);
  });

  it('does not affect the next one if it fails afterwards', async () => {
    const { step, first, second } = await setUp();
    await step(0, 'send');
    await step(0, 'fail');
    expect(first()).toBe('no');
    await step(1, 'end');
    expect(second()).toBe(20);
  });
});

describe('a failure', () => {
  const askThree = async (work: (items: number[]) => (number | Error)[]) => {
    const batches: number[][] = [];
    const ask = batched(
      async (items: number[]) => {
        batches.push(items);
        return work(items);
      },
      { most: 10, afterFailure },
    );
    const settled = await Promise.allSettled([1, 2, 3].map(ask));
    const outcomes = settled.map((each) => (each.status === 'fulfilled' ? each.value : each.reason.message));
    return { batches, outcomes };
  };
  const ONE_BY_ONE = [[1, 2, 3], [1], [2], [3]];
  const failing = (code: string) => Object.assign(new Error('failed'), { code, severity: 'ERROR' });

  it('of one item does not affect others', async () => {
    const { outcomes } = await askThree((items) => items.map((item) => (item === 2 ? new Error('2') : item)));
    expect(outcomes).toEqual([1, '2', 3]);
  });

  it('of a whole batch is retried item by item, so that only the bad one fails', async () => {
    const found = await askThree((items) => {
      if (items.includes(2)) throw new Error('not two');
      return items;
    });
    expect(found).toEqual({ batches: ONE_BY_ONE, outcomes: [1, 'not two', 3] });
  });

  it('by a deadlock is retried, one by one', async () => {
    const found = await askThree((items) => {
      if (items.length > 1) throw failing('40P01');
      return items;
    });
    expect(found).toEqual({ batches: ONE_BY_ONE, outcomes: [1, 2, 3] });
  });

  it('of the database fails all at once', async () => {
    const found = await askThree(() => {
      throw failing('ECONNREFUSED');
    });
    expect(found).toEqual({ batches: [[1, 2, 3]], outcomes: ['failed', 'failed', 'failed'] });
  });

  it('by repeated deadlocks is given up, as worth retrying later', async () => {
    let tries = 0;
    const ask = batched(
      async (): Promise<number[]> => {
        tries += 1;
        throw failing('40P01');
      },
      { most: 10, afterFailure },
    );
    const failure = await ask(1).catch((error: unknown) => error);
    expect([isUnavailable(failure), tries]).toEqual([true, 3]);
  });
});

describe('the deadline', () => {
  const movableTime = () => {
    const start = performance.now();
    let ms = 0;
    const spy = vi.spyOn(performance, 'now').mockImplementation(() => start + ms);
    onTestFinished(() => void spy.mockRestore());
    return (by: number) => {
      ms += by;
    };
  };

  it('rejects a request that has waited too long when its turn comes', async () => {
    const advance = movableTime();
    const { items, work, step } = stagedWork();
    const ask = batched(work, { most: 10 });
    void ask(1);
    await turns();
    const late = ask(2).catch((error: unknown) => error);
    advance(timeLimit(3_000));
    const fresh = ask(3);
    await step(0, 'end');
    expect(await late).toBeInstanceOf(QueueTimeout);
    await step(1, 'end');
    expect(await fresh).toBe(30);
    expect(items()).toEqual([[1], [3]]);
  });

  it('limits what is kept in the queue', async () => {
    const advance = movableTime();
    let tries = 0;
    const ask = batched<number, number>(
      async (items) => {
        tries += 1;
        if (tries === 3) advance(timeLimit(3_000));
        return items.map((item) => (item === 1 ? AGAIN : item));
      },
      { most: 10 },
    );
    const asked = [ask(1), ask(2)];
    expect(await asked[1]).toBe(2);
    await expect(asked[0]).rejects.toBeInstanceOf(QueueTimeout);
    expect(tries).toBe(3);
  });

  it('does not matter if the queue is full: the request is rejected immediately', async () => {
    const ask = batched(() => new Promise<number[]>(() => {}), { most: 10 });
    const asked = Array.from({ length: 5_001 }, (_, i) => ask(i));
    for (const each of asked) each.catch(() => {});
    await expect(asked.at(-1)).rejects.toBeInstanceOf(QueueTimeout);
  });
});
