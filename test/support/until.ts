import { setTimeout as pause } from 'node:timers/promises';
import { scaled } from './machine.ts';

/** For so long at least, on a quiet machine: a condition that holds is seen at once, so only a failure takes longer. */
const WITHIN_MS = 30_000;

/** Not by a clock that a test may have stopped. */
const nowMs = (): number => Number(process.hrtime.bigint() / 1_000_000n);

/** Asks until there is an answer; nothing here waits a fixed time. */
export const until = async <Value>(
  what: string,
  ask: () => Value | Promise<Value>,
  withinMs = WITHIN_MS,
): Promise<NonNullable<Exclude<Value, false>>> => {
  const timeoutMs = scaled(Math.max(withinMs, WITHIN_MS));
  const deadline = nowMs() + timeoutMs;
  for (;;) {
    const value = await ask();
    if (value) return value as NonNullable<Exclude<Value, false>>;
    if (nowMs() > deadline) throw new Error(`waited ${timeoutMs} ms in vain: ${what}`);
    await pause(5);
  }
};
