import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { ServiceError } from '../errors.ts';
import type { Metrics } from '../metrics.ts';

// Slices of large answers are read and written out one at a time in a process, shop by shop in turn, and leave most of
// its time to other requests while there are any (decision 97).

/** How many large answers may be under way at once: each holds one slice in memory, however slowly it is read. */
const MOST_ANSWERS = { ofShop: 100, inAll: 400 } as const;
/** How long a slice may wait for its turn. The first one can still be refused politely, so it waits less. */
const LONGEST_WAIT_MS = { first: 3_500, later: 30_000 } as const;
/** After a slice, others have the process for so many times as long as it took, within bounds. */
const REST = { times: 8, mostMs: 100 } as const;
/** For so long after a request of somebody else began, more of them are expected. */
const OTHERS_EXPECTED_MS = 250;

const busy = () => new ServiceError('UNAVAILABLE');

interface Waiting {
  expiresAtMs: number;
  run(): Promise<void>;
  refuse(error: Error): void;
}

/** One large answer, from its first slice to its end. */
export interface LargeAnswer {
  /** Runs the work for the next slice when it is this answer's turn. */
  slice<Result>(work: () => Promise<Result>): Promise<Result>;
  /** To be called once, when the answer is over, however it ended. */
  end(): void;
}

/** Counts the answers under way, and refuses those that are too many. */
const countedAnswers = () => {
  const ofShop = new Map<string, number>();
  let all = 0;
  let begun = 0;
  return {
    all: () => all,
    /** How many there were so far. */
    begun: () => begun,
    begin(shopId: string): void {
      const own = ofShop.get(shopId) ?? 0;
      if (all >= MOST_ANSWERS.inAll || own >= MOST_ANSWERS.ofShop) throw busy();
      ofShop.set(shopId, own + 1);
      all += 1;
      begun += 1;
    },
    end(shopId: string): void {
      const others = (ofShop.get(shopId) ?? 0) - 1;
      if (others > 0) ofShop.set(shopId, others);
      else ofShop.delete(shopId);
      all -= 1;
    },
  };
};

/** Runs work one after another, of each shop one in turn; `rest` is waited for after each, with the time it took. */
const shopByShop = (rest: (tookMs: number) => Promise<void>) => {
  const waiting = new Map<string, Waiting[]>();
  let isRunning = false;

  /** The first of the shop that is first in line; the shop then goes to the end of the line. */
  const takeNext = (): Waiting | undefined => {
    const [next] = waiting;
    if (!next) return undefined;
    const [shopId, [first, ...others]] = next;
    waiting.delete(shopId);
    if (others.length > 0) waiting.set(shopId, others);
    return first;
  };
  const runAll = async (): Promise<void> => {
    if (isRunning) return;
    isRunning = true;
    for (let next = takeNext(); next; next = takeNext()) {
      const startMs = performance.now();
      if (startMs > next.expiresAtMs) {
        next.refuse(busy());
        continue;
      }
      await next.run();
      await rest(performance.now() - startMs);
    }
    isRunning = false;
  };
  return <Result>(shopId: string, longestWaitMs: number, work: () => Promise<Result>): Promise<Result> =>
    new Promise((resolve, reject) => {
      const own = waiting.get(shopId) ?? [];
      const expiresAtMs = performance.now() + longestWaitMs;
      waiting.set(shopId, [...own, { expiresAtMs, run: () => work().then(resolve, reject), refuse: reject }]);
      void runAll();
    });
};

type Requests = Pick<Metrics, 'requestsUnderWay' | 'requestsBegun'>;

/** Whether other requests than large answers are under way, or were a moment ago. */
const watchOthers = (
  { requestsUnderWay, requestsBegun }: Requests,
  answers: { all(): number; begun(): number },
) => {
  let counted = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  return (): boolean => {
    const others = requestsBegun() - answers.begun();
    if (others !== counted || requestsUnderWay() > answers.all()) lastAt = performance.now();
    counted = others;
    return performance.now() - lastAt < OTHERS_EXPECTED_MS;
  };
};

/** Starts a large answer of a shop, or refuses it when too many are in progress. */
export type BeginLargeAnswer = (shopId: string) => LargeAnswer;

export const fairTurns = (requests: Requests): BeginLargeAnswer => {
  const answers = countedAnswers();
  const areOthersExpected = watchOthers(requests, answers);
  const inTurn = shopByShop(async (tookMs) => {
    if (areOthersExpected()) await pause(Math.min(tookMs * REST.times, REST.mostMs));
    else await nextTurn();
  });
  return (shopId) => {
    answers.begin(shopId);
    let longestWaitMs: number = LONGEST_WAIT_MS.first;
    return {
      async slice(work) {
        const result = await inTurn(shopId, longestWaitMs, work);
        longestWaitMs = LONGEST_WAIT_MS.later;
        return result;
      },
      end: () => answers.end(shopId),
    };
  };
};
