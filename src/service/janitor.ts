import { setImmediate as nextTurn } from 'node:timers/promises';
import { forgetAuditAddresses, forgetOldEntries } from '../audit/store.ts';
import { forgetEndedWindows } from '../db/rate-windows.ts';
import { forgetOldEvents } from '../events/feed.ts';
import { finishErasures } from '../personal-data/erasure-list.ts';
import { forgetEndedReturns } from '../personal-data/forget.ts';
import { forgetExpiredKeys } from '../returns/idempotency.ts';
import { unassignRemovedUsers } from '../returns/people.ts';
import { forgetExpiredLinks } from '../staff/links.ts';
import { forgetExpiredSessions, forgetOldAddresses } from '../staff/sessions.ts';
import { forgetOldFailures } from '../staff/sign-in.ts';
import { forgetOldDeliveries } from '../webhooks/queue.ts';
import type { Context } from './context.ts';
import { describeError } from './log.ts';

const EVERY_MS = 10 * 60_000;
/** Soon after a start, for processes that restart often; not all at once where many start together. */
const FIRST_WITHIN_MS = 30_000;

type CleanupStep = (ctx: Context, nowMs: number) => Promise<boolean>;

/** Each step deletes a bounded number of rows that are past their time, and says whether more is due. */
const STEPS: CleanupStep[] = [
  forgetExpiredKeys,
  forgetExpiredSessions,
  forgetExpiredLinks,
  forgetOldFailures,
  forgetOldAddresses,
  forgetEndedWindows,
  unassignRemovedUsers,
  forgetOldEvents,
  forgetOldDeliveries,
  forgetOldEntries,
  forgetAuditAddresses,
  finishErasures,
  forgetEndedReturns,
  (ctx) => ctx.analyze().then(() => false),
];

/** Requests go in between the steps. A step that fails, at a lock for example, does not keep the others from their work. */
export const sweep = async (ctx: Context, signal?: AbortSignal): Promise<void> => {
  for (const step of STEPS)
    try {
      while (!signal?.aborted && (await step(ctx, ctx.clock.now()))) await nextTurn();
    } catch (error) {
      ctx.log.warn({ error: describeError(error) }, 'cleanup step failed; it will be tried again');
    }
};

export const startJanitor = (ctx: Context): (() => void) => {
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const sweepAfter = (ms: number): void => {
    timer = setTimeout(async () => {
      await sweep(ctx, stopping.signal);
      if (!stopping.signal.aborted) sweepAfter(EVERY_MS);
    }, ms).unref();
  };
  sweepAfter(Math.random() * FIRST_WITHIN_MS);
  return () => {
    clearTimeout(timer);
    stopping.abort();
  };
};
