import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { Context } from '../../context.ts';
import { describeError } from '../../describe-error.ts';
import {
  FINISH_WITHIN_MS,
  LARGE_LOT,
  LAST_STEP_WITHIN_MS,
  LONGEST_WAIT_MS,
  RENEW_MS,
  REST_BESIDE_REQUESTS_MS,
} from '../policy.ts';
import { createAttempts } from './attempt.ts';
import { createInFlight } from './in-flight.ts';
import { createLeases } from './leases.ts';
import type { Due } from './queue.ts';
import { createReadyReceivers } from './ready-receivers.ts';
import type { Receiver } from './receivers.ts';
import { createRounds } from './rounds.ts';
import type { Sender } from './send.ts';
import { settle } from './settle.ts';
import { createSettler } from './settler.ts';
import { createSleeper } from './sleeper.ts';
import { createStopwatch } from './stopwatch.ts';

const LOOK_EVERY_MS = 5_000;
const REST_AFTER_FAULT_MS = 1_000;

export interface Dispatcher {
  /** Takes nothing more, finishes what is under way as far as that ends soon, leaves its receivers to others. Never throws. */
  stop(): Promise<void>;
}

/**
 * Brings deliveries from the outbox to their receivers. Rounds of: who may have something due and has room → take the
 * lease of those → read a few of each → send with no transaction open → settle in batches. What waits, waits in the
 * database; in memory is only what is on its way and who may have more. Its own rhythm runs on timers and the process's
 * own clock; only due times and leases, which processes share, are judged by `ctx.clock`.
 */
export const startDispatcher = async (ctx: Context, sender: Sender): Promise<Dispatcher> => {
  const sleeper = createSleeper();
  const inFlight = createInFlight(ctx.metrics.requestsUnderWay);
  const ready = createReadyReceivers(inFlight, createStopwatch(ctx.clock));
  const leases = createLeases(ctx);
  const settler = createSettler((batch) => settle(ctx, batch), ctx);
  const attempt = createAttempts(ctx, sender);
  const isStopped = (): boolean => stopped;
  let stopped = false;
  /** By the process's own clock. */
  let nextLookAt = 0;

  const wakeIfSomebodyCanGoOn = (): void => {
    if (ready.canGoOn()) sleeper.wake();
  };

  const carry = async (delivery: Due, receiver: Receiver | undefined): Promise<void> => {
    const { id, clientId, body } = delivery;
    const flight = inFlight.start(clientId, id, body.length, wakeIfSomebodyCanGoOn);
    const settlement = await attempt(delivery, receiver);
    inFlight.land(flight);
    if (ready.landed(clientId)) sleeper.wake();
    const written = settlement !== null && (await settler.add(settlement));
    inFlight.settled(flight);
    if (written && settlement.status === 'PENDING') {
      rounds.retryAfter(clientId, Math.min(settlement.dueAt - ctx.clock.now(), LONGEST_WAIT_MS));
      sleeper.wake();
    } else wakeIfSomebodyCanGoOn();
  };

  const rounds = createRounds(ctx, {
    inFlight,
    ready,
    leases,
    isStopped,
    carry: (delivery, receiver) =>
      void carry(delivery, receiver).catch((error) =>
        ctx.log.error(
          { deliveryId: delivery.id, fault: describeError(error) },
          'a webhook was lost sight of',
        ),
      ),
  });

  /** One round; returns how long to rest before the next, 0 where there may be more to take at once. */
  const round = async (): Promise<number> => {
    if (performance.now() >= nextLookAt) {
      nextLookAt = performance.now() + LOOK_EVERY_MS;
      await rounds.look();
    }
    const chosen = rounds.choose();
    if (chosen.length === 0) return Math.max(1, Math.min(ready.soonestMs(), nextLookAt - performance.now()));
    const sent = await rounds.serve(chosen);
    if (sent >= LARGE_LOT && ctx.metrics.requestsUnderWay() > 0) await pause(REST_BESIDE_REQUESTS_MS);
    return 0;
  };

  const run = async (): Promise<void> => {
    while (!stopped) {
      try {
        // What lands in one turn of the event loop makes room for one round.
        await nextTurn();
        const restMs = await round();
        if (restMs > 0) await sleeper.rest(restMs);
      } catch (error) {
        // Whoever was to be served is forgotten; the look finds them again.
        nextLookAt = 0;
        ctx.log.warn(
          { fault: describeError(error) },
          'the webhook queue could not be read; it will be tried again',
        );
        await sleeper.rest(REST_AFTER_FAULT_MS);
      }
    }
  };

  const wake = (clientId: string | null): void => {
    if (clientId === null) nextLookAt = 0;
    else {
      const waitMs = leases.askAfterMs(clientId);
      if (waitMs > 0) ready.callAfter(clientId, waitMs);
      else if (!ready.call(clientId)) return;
    }
    sleeper.wake();
  };

  const keepLeases = (): void => {
    leases
      .keep(inFlight.receivers())
      .catch((error) =>
        ctx.log.warn({ fault: describeError(error) }, 'the leases of webhook receivers were not renewed'),
      );
  };

  /** A step of a stop: it may fail or hang, and the next one comes all the same. */
  const step = async (what: string, work: Promise<unknown>, withinMs: number): Promise<void> => {
    const late = new AbortController();
    const outOfTime = pause(withinMs, 'late', { signal: late.signal }).catch(() => 'in time');
    try {
      if ((await Promise.race([work, outOfTime])) === 'late')
        ctx.log.warn({ step: what, withinMs }, 'stopping webhooks: a step took too long');
    } catch (error) {
      ctx.log.warn({ step: what, fault: describeError(error) }, 'stopping webhooks: a step failed');
    } finally {
      late.abort();
    }
  };

  const unlisten = await ctx.onWake(wake);
  const running = run();
  const keeping = setInterval(keepLeases, RENEW_MS);
  return {
    async stop() {
      stopped = true;
      sleeper.wake();
      await step('finish exchanges', Promise.all([running, inFlight.allSettled()]), FINISH_WITHIN_MS);
      clearInterval(keeping);
      settler.giveUp();
      await step('break off exchanges', sender.close(), LAST_STEP_WITHIN_MS);
      await step('release leases', Promise.all([leases.release(), unlisten()]), LAST_STEP_WITHIN_MS);
      ctx.wake(null);
    },
  };
};
