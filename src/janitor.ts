import type { Context } from './context.ts';
import { describeError } from './describe-error.ts';
import { forgetExpiredKeys } from './rma/idempotency.ts';
import { forgetExpiredSessions } from './staff/sessions.ts';
import { KEPT_MS } from './webhooks/policy.ts';
import { forgetOldDeliveries } from './webhooks/queue.ts';

const EVERY_MS = 10 * 60_000;

/** What nobody may need any more; each step clears a bounded number of rows and says whether more is due. */
const STEPS: ((ctx: Context) => Promise<boolean>)[] = [
  (ctx) => forgetExpiredKeys(ctx.db, ctx.clock.now()),
  (ctx) => forgetExpiredSessions(ctx.db, ctx.clock.now()),
  (ctx) => forgetOldDeliveries(ctx.db, ctx.clock.now() - KEPT_MS),
];

export const sweep = async (ctx: Context): Promise<void> => {
  for (const step of STEPS) while (await step(ctx));
};

export const startJanitor = (ctx: Context): (() => void) => {
  const timer = setInterval(
    () =>
      sweep(ctx).catch((error) =>
        ctx.log.warn({ fault: describeError(error) }, 'clearing away failed; it will be tried again'),
      ),
    EVERY_MS,
  );
  timer.unref();
  return () => clearInterval(timer);
};
