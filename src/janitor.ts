import type { Context } from './context.ts';
import { safely } from './http/errors.ts';
import { forgetExpiredKeys } from './rma/idempotency.ts';

const EVERY_MS = 10 * 60_000;

/** Clears away, now and then and in small steps, what nobody may need any more. */
const sweep = async (ctx: Context): Promise<void> => {
  while (await forgetExpiredKeys(ctx.db, ctx.clock.now())) {
    // Another thousand are due.
  }
};

export const startJanitor = (ctx: Context): (() => void) => {
  const timer = setInterval(
    () =>
      sweep(ctx).catch((error) =>
        ctx.log.warn({ fault: safely(error) }, 'clearing away failed; it will be tried again'),
      ),
    EVERY_MS,
  );
  timer.unref();
  return () => clearInterval(timer);
};
