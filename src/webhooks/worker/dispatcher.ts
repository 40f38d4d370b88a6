import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from '../../context.ts';
import { describeError } from '../../describe-error.ts';
import {
  FINISH_WITHIN_MS,
  LARGE_LOT,
  LAST_STEP_WITHIN_MS,
  type LaneName,
  LONGEST_WAIT_MS,
  RENEW_MS,
  REST_BESIDE_REQUESTS_MS,
} from '../policy.ts';
import { createAttempts } from './attempt.ts';
import { createInFlight } from './in-flight.ts';
import { createLeases } from './leases.ts';
import { startLoop } from './loop.ts';
import type { Due } from './queue.ts';
import { createReadyReceivers } from './ready-receivers.ts';
import type { Receiver } from './receivers.ts';
import { createRounds } from './rounds.ts';
import type { Sender } from './send.ts';
import { settle } from './settle.ts';
import { createSettler } from './settler.ts';
import { createSteps } from './steps.ts';
import { createStopwatch } from './stopwatch.ts';

const LOOK_EVERY_MS = 5_000;
const HAND_OVER_EVERY_MS = 200;

export interface Dispatcher {
  /** Takes nothing more, finishes what is under way as far as that ends soon, leaves its receivers to others. Never throws. */
  stop(): Promise<void>;
}

/**
 * Brings deliveries from the outbox to their receivers. Three loops: one looks at the whole queue now and then, one serves
 * quick receivers, one slow ones. To serve: take the lease of those that may have something due and have room → read a few
 * deliveries of each → send with no transaction open → settle in batches. What waits, waits in the database; in memory is
 * only what is on its way and who may have more. The loops run on timers and the process's own clock; only due times
 * and leases, which processes share, are judged by `ctx.clock`.
 */
export const startDispatcher = async (ctx: Context, sender: Sender): Promise<Dispatcher> => {
  const inFlight = createInFlight(ctx.metrics.requestsUnderWay);
  const ready = createReadyReceivers(inFlight, createStopwatch(ctx.clock));
  const leases = createLeases(ctx);
  const settler = createSettler((batch) => settle(ctx, batch), ctx);
  const attempt = createAttempts(ctx, sender);
  let stopped = false;

  const carry = async (delivery: Due, receiver: Receiver | undefined): Promise<void> => {
    const { id, clientId, body } = delivery;
    const flight = inFlight.start(clientId, id, body.length, wakeWhoCanGoOn);
    const settlement = await attempt(delivery, receiver);
    inFlight.land(flight);
    if (ready.landed(clientId)) wakeBoth();
    const written = settlement !== null && (await settler.add(settlement));
    inFlight.settled(flight);
    if (written && settlement.status === 'PENDING') {
      rounds.retryAfter(clientId, Math.min(settlement.dueAt - ctx.clock.now(), LONGEST_WAIT_MS));
      wakeBoth();
    } else wakeWhoCanGoOn();
  };

  const rounds = createRounds(ctx, {
    inFlight,
    ready,
    leases,
    isStopped: () => stopped,
    wake: () => wakeBoth(),
    carry: (delivery, receiver) =>
      void carry(delivery, receiver).catch((error) =>
        ctx.log.error(
          { deliveryId: delivery.id, fault: describeError(error) },
          'a webhook was lost sight of',
        ),
      ),
  });

  /** Returns how long to rest before the next round, 0 where there may be more to take at once. */
  const serve = async (lane: LaneName): Promise<number> => {
    const sent = await rounds.serveNext(lane);
    if (sent === null) return Math.max(1, Math.min(ready.soonestMs(), LOOK_EVERY_MS));
    if (sent >= LARGE_LOT && ctx.metrics.requestsUnderWay() > 0) await pause(REST_BESIDE_REQUESTS_MS);
    return 0;
  };
  const look = async (): Promise<number> => {
    await rounds.look();
    wakeBoth();
    return LOOK_EVERY_MS;
  };

  const looking = startLoop(ctx, look);
  // Whoever was to be served is forgotten after a fault; a look finds them again.
  const serving = {
    quick: startLoop(ctx, () => serve('quick'), looking.wake),
    slow: startLoop(ctx, () => serve('slow'), looking.wake),
  };
  const wakeBoth = (): void => {
    serving.quick.wake();
    serving.slow.wake();
  };
  const wakeWhoCanGoOn = (): void => {
    if (ready.canGoOn('quick')) serving.quick.wake();
    if (ready.canGoOn('slow')) serving.slow.wake();
  };

  /** There is something to send to this client; null: to somebody. */
  const hear = (clientId: string | null): void => {
    if (clientId === null) {
      leases.askAgain();
      looking.wake();
      return;
    }
    const waitMs = leases.askAfterMs(clientId);
    if (waitMs > 0) ready.callAfter(clientId, waitMs);
    if (waitMs > 0 || ready.call(clientId)) wakeBoth();
  };
  const keepLeases = (): void => {
    leases
      .keep(inFlight.receivers())
      .catch((error) =>
        ctx.log.warn({ fault: describeError(error) }, 'the leases of webhook receivers were not renewed'),
      );
  };
  /** Leaves receivers to the other processes, but those that something is under way to, and tells them. */
  const handOver = async (but: string[]): Promise<void> => {
    if ((await leases.release(but)) > 0) ctx.wake(null);
  };
  /** Again and again until all have ended: one receiver that hangs delays nobody else's next event. */
  const handOverMeanwhile = (): NodeJS.Timeout =>
    setInterval(
      () =>
        handOver(inFlight.receivers()).catch((error) =>
          ctx.log.warn({ fault: describeError(error) }, 'webhook receivers could not be handed over yet'),
        ),
      HAND_OVER_EVERY_MS,
    );
  const unlisten = await ctx.onWake(hear);
  const keeping = setInterval(keepLeases, RENEW_MS);

  return {
    async stop() {
      stopped = true;
      const step = createSteps(ctx);
      const loops = [looking, serving.quick, serving.slow].map((loop) => loop.stop());
      const handingOver = handOverMeanwhile();
      await step('finish exchanges', Promise.all([...loops, inFlight.allSettled()]), FINISH_WITHIN_MS);
      clearInterval(handingOver);
      clearInterval(keeping);
      settler.giveUp();
      await step('break off exchanges', sender.close(), LAST_STEP_WITHIN_MS);
      await step('release leases', Promise.all([handOver([]), unlisten()]), LAST_STEP_WITHIN_MS);
    },
  };
};
