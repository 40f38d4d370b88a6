import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context } from '../../context.ts';
import { DROPPED_BECAUSE } from '../drop-reasons.ts';
import { GIVE_UP_AFTER_MS, type LaneName, LONGEST_WAIT_MS } from '../policy.ts';
import type { InFlight } from './in-flight.ts';
import type { Leases } from './leases.ts';
import { bringForward, type Due, dropTooOld, due, nextDue, type Opening, waitingReceivers } from './queue.ts';
import type { Chosen, ReadyReceivers } from './ready-receivers.ts';
import { type Receiver, receiversById } from './receivers.ts';

/** Receivers served in one round. */
const RECEIVERS_AT_ONCE = 32;
/** Then requests get their turn: Node takes one new connection a turn of its event loop. */
const SENT_IN_A_TURN = 8;

interface Parts {
  inFlight: InFlight;
  ready: ReadyReceivers;
  leases: Leases;
  /** Sends a delivery on its way. */
  carry(delivery: Due, receiver: Receiver | undefined): void;
  isStopped(): boolean;
  /** Somebody is ready. */
  wake(): void;
}

/** The two things the dispatcher does over and over: look at the whole queue, and serve receivers that are ready. */
export const createRounds = (ctx: Context, { inFlight, ready, leases, carry, isStopped, wake }: Parts) => {
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

  /** So that nobody who was called too early, or has more to come, is forgotten until the next look. */
  const askWhenNext = async (receivers: Chosen[]): Promise<void> => {
    const openings = receivers.map((each) => ({ ...each, underWay: inFlight.unsettledOf(each.clientId) }));
    // Before the question: whoever gets a retry meanwhile is entered again.
    for (const { clientId } of openings) withRetries.delete(clientId);
    const found = await nextDue(ctx, openings);
    await callWhenDue(found.map((each) => ({ ...each, lastDueAt: each.dueAt })));
  };

  /** Finds what a lost wake-up call or a process that died would have sent. */
  const look = async (): Promise<void> => {
    const { firstAttempts, retries } = await waitingReceivers(ctx);
    for (const clientId of firstAttempts) ready.callAfter(clientId, leases.askAfterMs(clientId));
    await callWhenDue(retries.map(({ firstDueAt, ...rest }) => ({ dueAt: firstDueAt, ...rest })));
  };

  /** Drops what waited too long, of all that waits for these receivers; returns what is still to be sent. */
  const withoutTooOld = async (deliveries: Due[]): Promise<Due[]> => {
    const nowMs = ctx.clock.now();
    const beforeMs = nowMs - GIVE_UP_AFTER_MS;
    const tooOld = deliveries.filter(({ createdAt }) => createdAt < beforeMs);
    for (const clientId of new Set(tooOld.map((each) => each.clientId))) {
      const underWay = inFlight.unsettledOf(clientId);
      const count = await dropTooOld(ctx, { clientId, underWay }, { nowMs, beforeMs });
      ctx.log.warn({ clientId, count, reason: DROPPED_BECAUSE.tooOld }, 'webhooks dropped');
      ready.call(clientId);
    }
    return deliveries.filter((each) => !tooOld.includes(each));
  };

  /** Sends what the chosen have due on its way, as far as they are ours and have room. Returns how much that was. */
  const serve = async (chosen: Chosen[]): Promise<number> => {
    const ours = await leases.of(chosen);
    const openings: Opening[] = ours.map((each) => ({
      ...each,
      underWay: inFlight.unsettledOf(each.clientId),
    }));
    const [found, receivers] = await Promise.all([
      due(ctx, openings, ctx.clock.now()),
      receiversById(
        ctx,
        ours.map(({ clientId }) => clientId),
      ),
    ]);
    const counts = new Map<string, number>();
    for (const { clientId } of found) counts.set(clientId, (counts.get(clientId) ?? 0) + 1);
    const deliveries = await withoutTooOld(found);
    for (const [i, delivery] of deliveries.entries()) {
      if (i > 0 && i % SENT_IN_A_TURN === 0) await nextTurn();
      if (isStopped()) return i;
      carry(delivery, receivers.get(delivery.clientId));
    }
    const hasMore = ({ clientId, room }: Chosen) => counts.get(clientId) === room;
    for (const each of ours) if (hasMore(each)) ready.call(each.clientId);
    await askWhenNext(
      ours.filter((each) => !hasMore(each) && (!counts.has(each.clientId) || withRetries.has(each.clientId))),
    );
    return deliveries.length;
  };

  return {
    look,
    retryAfter,
    /** One round for a lane. Returns how many deliveries were sent on their way; null where nobody could be served. */
    async serveNext(lane: LaneName): Promise<number | null> {
      const chosen = ready.next(lane, RECEIVERS_AT_ONCE);
      if (chosen.length === 0) return null;
      try {
        return await serve(chosen);
      } finally {
        if (ready.served(chosen)) wake();
      }
    },
  };
};
