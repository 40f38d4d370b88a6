import type { Context } from '../../context.ts';
import { DROPPED_BECAUSE } from '../drop-reasons.ts';
import { GIVE_UP_AFTER_MS, type PoolName } from '../policy.ts';
import type { Carry } from './carrier.ts';
import type { InFlight } from './in-flight.ts';
import type { Leases } from './leases.ts';
import type { Lookout } from './lookout.ts';
import type { Places, Pools } from './pools.ts';
import { type Due, dropTooOld, due, type Opening } from './queue.ts';
import type { Chosen, ReadyReceivers } from './ready-receivers.ts';
import { receiversById } from './receivers.ts';
import { createReplacedFilter } from './replaced-receivers.ts';
import type { OwnTime } from './time.ts';

/** Receivers served in one round. */
const RECEIVERS_AT_ONCE = 32;
/** Then requests get their turn: Node takes one new connection a turn of its event loop. */
const SENT_IN_A_TURN = 8;

interface Parts {
  inFlight: InFlight;
  ready: ReadyReceivers;
  leases: Leases;
  lookout: Lookout;
  time: OwnTime;
  pools: Pools;
  carry: Carry<void>;
  isStopping(): boolean;
  /** Somebody is ready in this pool. */
  wake(pool: PoolName): void;
  wakeWhoCanGoOn(): void;
}

/** Serves receivers that are ready: takes their leases, reads what is due and sends it on its way. */
export const createRounds = (ctx: Context, parts: Parts) => {
  const { ready, leases, lookout, pools, carry, wake, wakeWhoCanGoOn } = parts;
  const send = createSending(parts);
  const withoutTooOld = createTooOldFilter(ctx, parts);
  const withoutReplaced = createReplacedFilter(ctx, parts.inFlight);

  const serve = async (ours: Chosen[], pool: PoolName, places: Places): Promise<number> => {
    const { found, receivers } = await readDue(ctx, parts.inFlight, ours);
    const counts = new Map<string, number>();
    for (const { clientId } of found) counts.set(clientId, (counts.get(clientId) ?? 0) + 1);
    const waiting = found.filter(({ id, clientId }) => !parts.inFlight.claim(clientId, id));
    const deliveries = await withoutTooOld(await withoutReplaced(waiting, receivers));
    const sent = await send(deliveries, (delivery) => {
      places.useOne();
      carry(delivery, receivers.get(delivery.clientId), pool);
    });
    if (sent < deliveries.length) return sent;
    const hasMore = ({ clientId, room }: Chosen) => counts.get(clientId) === room;
    for (const each of ours) if (hasMore(each)) ready.call(each.clientId);
    await lookout.askWhenNext(
      ours.filter(
        (each) => !hasMore(each) && (!counts.has(each.clientId) || lookout.mayHaveRetries(each.clientId)),
      ),
    );
    return sent;
  };

  /** One round for a pool. Returns how many deliveries were sent on their way; null where nobody could be served. */
  return async (pool: PoolName): Promise<number | null> => {
    // Another pool's loop may rest: its receivers' times were set after its rest began.
    for (const due of ready.callDue()) if (due !== pool) wake(due);
    const chosen = ready.next(pool, RECEIVERS_AT_ONCE);
    if (chosen.length === 0) return null;
    const places = pools.reserve(
      pool,
      chosen.reduce((sum, { room }) => sum + room, 0),
    );
    let serving = chosen;
    try {
      const ours = await leases.of(chosen);
      ready.leasedElsewhere(chosen.filter((each) => !ours.includes(each)));
      serving = ours;
      return await serve(ours, pool, places);
    } finally {
      places.giveBack();
      for (const each of ready.served(serving)) wake(each);
      wakeWhoCanGoOn();
    }
  };
};

const readDue = async (ctx: Context, inFlight: InFlight, ours: Chosen[]) => {
  const openings: Opening[] = ours.map((each) => ({
    ...each,
    underWay: inFlight.unsettledOf(each.clientId),
  }));
  const clientIds = ours.map(({ clientId }) => clientId);
  const [found, receivers] = await Promise.all([
    due(ctx, openings, ctx.clock.now()),
    receiversById(ctx, clientIds),
  ]);
  return { found, receivers };
};

/** Returns how many were sent on their way before a stop. */
const createSending =
  ({ isStopping, time }: Pick<Parts, 'isStopping' | 'time'>) =>
  async (deliveries: Due[], send: (delivery: Due) => void): Promise<number> => {
    for (const [i, delivery] of deliveries.entries()) {
      if (i > 0 && i % SENT_IN_A_TURN === 0) await time.nextTurn();
      if (isStopping()) return i;
      send(delivery);
    }
    return deliveries.length;
  };

/** Drops what waited too long, of all that waits for these receivers; returns what is still to be sent. */
const createTooOldFilter =
  (ctx: Context, { inFlight, ready }: Pick<Parts, 'inFlight' | 'ready'>) =>
  async (deliveries: Due[]): Promise<Due[]> => {
    const nowMs = ctx.clock.now();
    const beforeMs = nowMs - GIVE_UP_AFTER_MS;
    const tooOld = deliveries.filter(({ createdAt }) => createdAt < beforeMs);
    for (const clientId of new Set(tooOld.map((each) => each.clientId))) {
      const underWay = inFlight.unsettledOf(clientId);
      const count = await dropTooOld(ctx, { clientId, underWay }, { nowMs, beforeMs });
      ctx.log.warn({ clientId, count, reason: DROPPED_BECAUSE.tooOld }, 'webhooks dropped');
      ctx.metrics.observeDroppedDeliveries(count);
      ready.call(clientId);
    }
    return deliveries.filter((each) => !tooOld.includes(each));
  };
