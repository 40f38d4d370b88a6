import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { openWebhookSecret } from '../api-clients/webhook-secret.ts';
import type { Context } from '../context.ts';
import { describeError } from '../describe-error.ts';
import { createAgenda } from './agenda.ts';
import type { Sender } from './deliver.ts';
import { createFlights } from './flights.ts';
import { createLeases } from './leases.ts';
import { isAcknowledged, LARGE_LOT, nextAttemptAt, RENEW_MS, REST_BESIDE_REQUESTS_MS } from './policy.ts';
import {
  type Due,
  due,
  type Receiver,
  receiversById,
  type Settlement,
  settle,
  waitingReceivers,
} from './queue.ts';
import { createSettler } from './settler.ts';
import { createSleeper } from './sleeper.ts';

/** Receivers served in one round. */
const RECEIVERS_AT_ONCE = 32;
/** How often it looks at the whole queue: for what a lost wake-up call or a process that died would have sent. */
const LOOK_EVERY_MS = 5_000;
const REST_AFTER_FAULT_MS = 1_000;
/** Then requests get their turn: Node takes one new connection a turn of its event loop. */
const SENT_IN_A_TURN = 8;

export interface Dispatcher {
  /** Takes nothing more, finishes what is under way. */
  stop(): Promise<void>;
}

/**
 * Brings deliveries from the outbox to their receivers. Rounds of: who has something due and is not at its cap → take the
 * lease of those → read a few of each → send with no transaction open → settle in batches. What waits, waits in the
 * database; in memory is only what is on its way and who may have more.
 */
export const startDispatcher = async (ctx: Context, sender: Sender): Promise<Dispatcher> => {
  const sleeper = createSleeper();
  const flights = createFlights(ctx.metrics.requestsUnderWay);
  const agenda = createAgenda(flights);
  const leases = createLeases(ctx);
  const settler = createSettler((batch) => ctx.lightly((db) => settle({ ...ctx, db }, batch)), ctx);
  const secrets = secretCache(ctx);
  let stopped = false;
  let nextLookAt = 0;

  const wake = (clientId: string | null): void => {
    if (clientId === null) nextLookAt = 0;
    else {
      const freeAt = leases.freeAt(clientId);
      if (freeAt > ctx.clock.now()) agenda.callAt(clientId, freeAt);
      else if (!agenda.call(clientId)) return;
    }
    sleeper.wake();
  };

  const wakeIfRelieved = (): void => {
    if (agenda.isRelieved()) sleeper.wake();
  };

  /** One round; gives back how long to rest before the next, 0 where there may be more to take at once. */
  const round = async (): Promise<number> => {
    const nowMs = ctx.clock.now();
    if (nowMs >= nextLookAt) {
      nextLookAt = nowMs + LOOK_EVERY_MS;
      for (const { clientId, dueAt } of await waitingReceivers(ctx.db))
        agenda.callAt(clientId, Math.max(dueAt, leases.freeAt(clientId)));
    }
    const chosen = agenda.next(nowMs, RECEIVERS_AT_ONCE);
    if (chosen.length === 0) return Math.max(1, Math.min(agenda.soonest(), nextLookAt) - nowMs);
    const taken = await take(chosen);
    if (taken >= LARGE_LOT && ctx.metrics.requestsUnderWay() > 0) await pause(REST_BESIDE_REQUESTS_MS);
    return 0;
  };

  /** Sends what the chosen have due on its way, as far as they are ours and have room. Gives back how much that was. */
  const take = async (chosen: { clientId: string; room: number }[]): Promise<number> => {
    const ours = await leases.of(chosen);
    const [deliveries, receivers] = await Promise.all([
      due(
        { ...ctx, db: ctx.steady },
        ours.map((each) => ({ ...each, underWay: flights.unsettledOf(each.clientId) })),
        ctx.clock.now(),
      ),
      receiversById(
        ctx,
        ours.map(({ clientId }) => clientId),
      ),
    ]);
    for (const [i, delivery] of deliveries.entries()) {
      if (i > 0 && i % SENT_IN_A_TURN === 0) await nextTurn();
      void carry(delivery, receivers.get(delivery.clientId));
    }
    const counts = new Map<string, number>();
    for (const { clientId } of deliveries) counts.set(clientId, (counts.get(clientId) ?? 0) + 1);
    for (const { clientId, room } of ours) if (counts.get(clientId) === room) agenda.call(clientId);
    return deliveries.length;
  };

  const carry = async (delivery: Due, receiver: Receiver | undefined): Promise<void> => {
    const { clientId } = delivery;
    const flight = flights.start(clientId, delivery.id, wakeIfRelieved);
    const { settlement, timedOut } = receiver?.url
      ? await attempt(delivery, { ...receiver, url: receiver.url })
      : withoutReceiver(delivery, receiver?.shopId ?? null);
    flights.land(flight, timedOut);
    if (agenda.landed(clientId)) sleeper.wake();
    await settler.add(settlement);
    if (settlement.status === 'PENDING') agenda.callAt(clientId, settlement.dueAt);
    flights.settled(flight);
    if (settlement.status === 'PENDING') sleeper.wake();
    else wakeIfRelieved();
  };

  const attempt = async (delivery: Due, receiver: Receiver & { url: string }) => {
    const startedAt = ctx.clock.now();
    const { statusCode, error, timedOut } = await sender.send({
      url: receiver.url,
      secret: secrets.open(delivery.clientId, receiver.sealedSecret),
      id: delivery.id,
      event: delivery.event,
      attempt: delivery.attempts.length + 1,
      body: delivery.body,
    });
    const endedAt = ctx.clock.now();
    const attempts = [
      ...delivery.attempts,
      { at: startedAt, durationMs: endedAt - startedAt, statusCode, error },
    ];
    const done = statusCode !== null && isAcknowledged(statusCode);
    const again = done ? null : nextAttemptAt(attempts.length, endedAt);
    const status = done ? 'DELIVERED' : again === null ? 'DROPPED' : 'PENDING';
    ctx.metrics.observeAttempt(done ? 'acknowledged' : statusCode === null ? 'failed' : 'refused');
    if (done) ctx.metrics.observeDelivery((endedAt - delivery.createdAt) / 1000);
    if (status === 'DROPPED')
      drop({ ...delivery, attempts }, receiver.shopId, error ?? `status ${statusCode}`);
    const settlement: Settlement = {
      id: delivery.id,
      before: delivery.attempts.length,
      status,
      attempts,
      dueAt: again ?? endedAt,
      finishedAt: again === null ? endedAt : null,
    };
    return { settlement, timedOut };
  };

  /** Revoked, or its URL taken away, while the event waited: nobody to send it to any more. */
  const withoutReceiver = (delivery: Due, shopId: string | null) => {
    const nowMs = ctx.clock.now();
    drop(delivery, shopId, 'the client was revoked or has no webhook URL any more');
    const { id, attempts } = delivery;
    const settlement: Settlement = {
      id,
      before: attempts.length,
      status: 'DROPPED',
      attempts,
      dueAt: nowMs,
      finishedAt: nowMs,
    };
    return { settlement, timedOut: false };
  };

  const drop = ({ id, clientId, event, attempts }: Due, shopId: string | null, reason: string): void =>
    ctx.log.warn(
      { deliveryId: id, clientId, shopId, event, attempts: attempts.length, reason },
      'webhook dropped',
    );

  const run = async (): Promise<void> => {
    while (!stopped) {
      try {
        // What lands in one turn of the event loop makes room for one round.
        await nextTurn();
        const restMs = await round();
        if (restMs > 0) await sleeper.rest(restMs);
      } catch (error) {
        // Whoever was to be served is off the agenda; the look finds them again.
        nextLookAt = 0;
        ctx.log.warn(
          { fault: describeError(error) },
          'the webhook queue could not be read; it will be tried again',
        );
        await sleeper.rest(REST_AFTER_FAULT_MS);
      }
    }
  };

  const unlisten = await ctx.onWake(wake);
  const running = run();
  const keeping = setInterval(() => leases.keep(flights.receivers()).catch(() => {}), RENEW_MS);
  return {
    async stop() {
      stopped = true;
      sleeper.wake();
      await running;
      await flights.allSettled();
      clearInterval(keeping);
      await unlisten();
      await leases.release().catch(() => {});
      ctx.wake(null);
    },
  };
};

/** Opening a sealed secret costs more than signing with it. */
const secretCache = (ctx: Context) => {
  const opened = new Map<string, string>();
  return {
    open(clientId: string, sealed: string): string {
      const name = `${clientId} ${sealed}`;
      const known = opened.get(name);
      if (known !== undefined) return known;
      if (opened.size >= 10_000) opened.clear();
      const secret = openWebhookSecret(ctx.secrets, clientId, sealed);
      opened.set(name, secret);
      return secret;
    },
  };
};
