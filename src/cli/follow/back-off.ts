import { setTimeout as sleep } from 'node:timers/promises';

const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

export type Say = (line: string) => void;

/** Ends early when the command is stopped. */
export const pause = async (ms: number, stop: AbortSignal): Promise<void> => {
  // An end before its time is no error: the caller sees that it is stopped.
  await sleep(ms, undefined, { signal: stop }).catch(() => {});
};

export interface BackOff {
  /** Waits longer after each failure in a row, or as long as the other side asks, and says so once for each reason. */
  failed(why: string, waitMs?: number | null): Promise<void>;
  worked(): void;
}

export const backOff = (say: Say, stop: AbortSignal, isBack: string): BackOff => {
  let failures = 0;
  let told = '';
  return {
    async failed(why, waitMs = null) {
      const ms = waitMs ?? Math.min(FIRST_MS * 2 ** failures, LONGEST_MS);
      failures += 1;
      if (why !== told) say(`${why}; trying again in ${Math.ceil(ms / 1000)} s`);
      told = why;
      // Whoever was turned away together comes back one by one.
      await pause(ms * (1 + Math.random() / 10), stop);
    },
    worked() {
      if (failures > 0) say(isBack);
      failures = 0;
      told = '';
    },
  };
};
