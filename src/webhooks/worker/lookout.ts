import type { Context } from '../../context.ts';
import { LONGEST_WAIT_MS } from '../policy.ts';
import type { InFlight } from './in-flight.ts';
import type { Leases } from './leases.ts';
import { bringForward, nextDue, waitingReceivers } from './queue.ts';
import type { Chosen, ReadyReceivers } from './ready-receivers.ts';

interface Parts {
  inFlight: InFlight;
  ready: ReadyReceivers;
  leases: Leases;
}

/** Finds out when receivers have something due, and has them called then. */
export const createLookout = (ctx: Context, { inFlight, ready, leases }: Parts) => {
  /** Receivers that retries may wait for, beside those that are due: their next time must be asked for. */
  const withRetries = new Set<string>();

  const retryAfter = (clientId: string, waitMs: number): void => {
    withRetries.add(clientId);
    ready.callAfter(clientId, waitMs);
  };

  /** Calls receivers when their next retry is due; one further ahead than can be is due now (decision 82). */
  const callWhenDue = async (waits: { clientId: string; dueAt: number; lastDueAt: number }[]) => {
    const nowMs = ctx.clock.now();
    const furtherThanMs = nowMs + LONGEST_WAIT_MS;
    const astray = waits.filter(({ lastDueAt }) => lastDueAt > furtherThanMs).map(({ clientId }) => clientId);
    if (astray.length > 0) await bringForward(ctx, astray, { nowMs, furtherThanMs });
    for (const clientId of astray) ready.call(clientId);
    for (const { clientId, dueAt } of waits)
      retryAfter(clientId, Math.max(dueAt - nowMs, leases.askAfterMs(clientId)));
  };

  return {
    retryAfter,
    mayHaveRetries: (clientId: string): boolean => withRetries.has(clientId),
    /** So that nobody who was called too early, or has more to come, is forgotten until the next look. */
    async askWhenNext(receivers: Chosen[]): Promise<void> {
      const openings = receivers.map((each) => ({ ...each, underWay: inFlight.unsettledOf(each.clientId) }));
      // Before the question: whoever gets a retry meanwhile is entered again.
      for (const { clientId } of openings) withRetries.delete(clientId);
      const found = await nextDue(ctx, openings);
      await callWhenDue(found.map((each) => ({ ...each, lastDueAt: each.dueAt })));
    },
    /** Finds what a lost wake-up call or a process that died would have sent. */
    async look(): Promise<void> {
      const { firstAttempts, retries } = await waitingReceivers(ctx);
      for (const clientId of firstAttempts) ready.callAfter(clientId, leases.askAfterMs(clientId));
      await callWhenDue(retries.map(({ firstDueAt, ...rest }) => ({ dueAt: firstDueAt, ...rest })));
    },
  };
};
export type Lookout = ReturnType<typeof createLookout>;
