import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { ServiceError } from '../errors.ts';
import type { Metrics } from '../metrics.ts';

// A process reads and writes slices of large answers one at a time, for each shop in turn. While there are other requests,
// it leaves most of its time to them (decision 97).

/** How many large answers may be in progress at once: each holds one slice in memory, however slow its reader is. */
const MAX_ANSWERS = { perShop: 100, total: 400 } as const;
/** How long a slice may wait for its turn. The first can still be refused with a 503, so it waits less. */
const MAX_WAIT_MS = { first: 3_500, later: 30_000 } as const;
/** After a slice, large answers pause for this many times as long as the slice took, up to a maximum. */
const REST = { times: 16, maxMs: 200 } as const;
/** For this long after another request began, more of them are expected. */
const OTHERS_EXPECTED_MS = 250;

const busy = () => new ServiceError('SERVICE_UNAVAILABLE');

interface Waiting {
  expiresAtMs: number;
  run(): Promise<void>;
  refuse(error: Error): void;
}

/** One large answer, from its first slice to its end. */
export interface LargeAnswer {
  /** Runs the work for the next slice when it is this answer's turn. */
  slice<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Call once when the answer is over, however it ended. */
  end(): void;
}

/** Counts the answers in progress, and refuses further ones at the limit. */
const countedAnswers = () => {
  const ofShop = new Map<string, number>();
  let all = 0;
  let begun = 0;
  return {
    all: () => all,
    /** How many have begun so far. */
    begun: () => begun,
    begin(shopId: string): void {
      const own = ofShop.get(shopId) ?? 0;
      if (all >= MAX_ANSWERS.total || own >= MAX_ANSWERS.perShop) throw busy();
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

/** Runs work one at a time, for each shop in turn. After each piece of work it awaits `rest`, with the time the work took. */
const shopByShop = (rest: (tookMs: number) => Promise<void>) => {
  const waiting = new Map<string, Waiting[]>();
  let isRunning = false;

  /** Takes the next work of the first shop in line, and moves that shop to the end. */
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
  return <Result>(shopId: string, maxWaitMs: number, work: () => Promise<Result>): Promise<Result> =>
    new Promise((resolve, reject) => {
      const own = waiting.get(shopId) ?? [];
      const expiresAtMs = performance.now() + maxWaitMs;
      waiting.set(shopId, [...own, { expiresAtMs, run: () => work().then(resolve, reject), refuse: reject }]);
      void runAll();
    });
};

type Requests = Pick<Metrics, 'requestsUnderWay' | 'requestsBegun'>;

/** Whether requests other than large answers are in progress, or were a moment ago. */
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
    if (areOthersExpected()) await pause(Math.min(tookMs * REST.times, REST.maxMs));
    else await nextTurn();
  });
  return (shopId) => {
    answers.begin(shopId);
    let maxWaitMs: number = MAX_WAIT_MS.first;
    return {
      async slice(work) {
        const result = await inTurn(shopId, maxWaitMs, work);
        maxWaitMs = MAX_WAIT_MS.later;
        return result;
      },
      end: () => answers.end(shopId),
    };
  };
};
