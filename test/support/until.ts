import { setTimeout as pause } from 'node:timers/promises';

/** Asks until there is an answer; nothing here waits a fixed time. */
export const until = async <Value>(
  what: string,
  ask: () => Value | Promise<Value>,
  withinMs = 10_000,
): Promise<NonNullable<Exclude<Value, false>>> => {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const value = await ask();
    if (value) return value as NonNullable<Exclude<Value, false>>;
    if (Date.now() > deadline) throw new Error(`waited ${withinMs} ms in vain: ${what}`);
    await pause(5);
  }
};
