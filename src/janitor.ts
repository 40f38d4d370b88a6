import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context } from './context.ts';
import { forgetEndedWindows } from './db/ended-windows.ts';
import { describeError } from './describe-error.ts';
import { forgetOldEvents } from './events/feed.ts';
import { forgetExpiredKeys } from './rma/idempotency.ts';
import { unassignDeparted } from './rma/people.ts';
import { forgetExpiredLinks } from './staff/links.ts';
import { forgetExpiredSessions } from './staff/sessions.ts';
import { forgetOldFailures } from './staff/sign-in-attempt.ts';
import { forgetOldAddresses } from './staff/trusted-devices.ts';
import { forgetOldDeliveries } from './webhooks/queue.ts';

const EVERY_MS = 10 * 60_000;

type Step = (ctx: Context, nowMs: number) => Promise<boolean>;

/** What nobody may need any more; each step clears a bounded number of rows and says whether more is due. */
const STEPS: Step[] = [
  forgetExpiredKeys,
  forgetExpiredSessions,
  forgetExpiredLinks,
  forgetOldFailures,
  forgetOldAddresses,
  forgetEndedWindows,
  unassignDeparted,
  forgetOldEvents,
  forgetOldDeliveries,
];

/**
 * Clears away all that is due. Requests go in between the steps; a row that comes back after a power cut is cleared next time.
 * What one of them cannot clear, since somebody holds it for example, keeps none of the others from it.
 */
export const sweep = async (ctx: Context, signal?: AbortSignal): Promise<void> => {
  for (const step of STEPS)
    try {
      while (!signal?.aborted && (await step(ctx, ctx.clock.now()))) await nextTurn();
    } catch (error) {
      ctx.log.warn({ fault: describeError(error) }, 'clearing away failed; it will be tried again');
    }
};

export const startJanitor = (ctx: Context): (() => void) => {
  const stopping = new AbortController();
  let sweeping = false;
  const timer = setInterval(async () => {
    if (sweeping) return;
    sweeping = true;
    await sweep(ctx, stopping.signal);
    sweeping = false;
  }, EVERY_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    stopping.abort();
  };
};
