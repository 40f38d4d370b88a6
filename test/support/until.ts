import { setTimeout as pause } from 'node:timers/promises';

const LOOK_EVERY_MS = 5;

/** Waits for a condition to give something, with a deadline: never a guess at how long a thing takes. */
export const until = async <Value>(
  look: () => Value | null | undefined | false | Promise<Value | null | undefined | false>,
  withinMs = 10_000,
): Promise<Value> => {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const value = await look();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`not within ${withinMs} ms: ${look}`);
    await pause(LOOK_EVERY_MS);
  }
};
