import type { Context } from '../../context.ts';
import {
  FINISH_WITHIN_MS,
  LARGE_LOT,
  LAST_STEP_WITHIN_MS,
  LIMITS,
  LOOK_EVERY_MS,
  POOL_NAMES,
  type PoolName,
  REST_MS,
} from '../policy.ts';
import { createAttempts } from './attempt.ts';
import { createCarrier, type Settler } from './carrier.ts';
import { createHandOver, keepLeases } from './hand-over.ts';
import { createInFlight } from './in-flight.ts';
import { createLeases } from './leases.ts';
import { createLookout } from './lookout.ts';
import { startLoop } from './loop.ts';
import { createPools, type Pools } from './pools.ts';
import { createReadyReceivers } from './ready-receivers.ts';
import { createReceiverLoad } from './receiver-load.ts';
import { createRounds } from './rounds.ts';
import type { Sender } from './send.ts';
import { settle } from './settle.ts';
import { createSettler } from './settler.ts';
import { createMove, type OnForbiddenMove } from './states.ts';
import { createSteps } from './steps.ts';
import { createStopwatch } from './stopwatch.ts';
import { type OwnTime, pause, systemTime } from './time.ts';

export interface Dispatcher {
  /** Takes nothing more, finishes what is under way as far as that ends soon, leaves its receivers to others. Never throws. */
  stop(): Promise<void>;
}

/** What a test may put in place of the real thing. */
export interface Overrides {
  time?: OwnTime;
  pools?: Pools;
  settler?: Settler;
  onForbiddenMove?: OnForbiddenMove;
}

/** What this process knows: room, exchanges, receivers, leases. */
const createKnowledge = (ctx: Context, overrides: Overrides) => {
  const { time = systemTime, pools = createPools(ctx.metrics.requestsUnderWay, LIMITS) } = overrides;
  const logForbiddenMove: OnForbiddenMove = (message) =>
    ctx.log.error({ fault: message }, 'the webhook dispatcher made a move that it must not make');
  const move = createMove(overrides.onForbiddenMove ?? logForbiddenMove);
  const load = createReceiverLoad(pools);
  const inFlight = createInFlight({ pools, load, time, move });
  const ready = createReadyReceivers({ pools, load, move, stopwatch: createStopwatch(ctx.clock, time) });
  const leases = createLeases(ctx);
  const lookout = createLookout(ctx, { inFlight, ready, leases });
  const settler = overrides.settler ?? createSettler((batch) => settle(ctx, batch), ctx);
  return { time, move, pools, inFlight, ready, leases, lookout, settler };
};
type Knowledge = ReturnType<typeof createKnowledge>;

/** One loop looks at the whole queue now and then, and each pool has one that serves its receivers. */
const startLoops = (ctx: Context, sender: Sender, knowledge: Knowledge, isStopping: () => boolean) => {
  const { time, move, ready, lookout } = knowledge;
  const attempt = createAttempts(ctx, sender, time);

  const wakeAll = (): void => {
    for (const pool of POOL_NAMES) serving[pool].wake();
  };
  const wakeWhoCanGoOn = (): void => {
    for (const pool of POOL_NAMES) if (ready.canGoOn(pool)) serving[pool].wake();
  };
  const carry = createCarrier(ctx, { ...knowledge, attempt, wakeAll, wakeWhoCanGoOn });
  const serveNext = createRounds(ctx, {
    ...knowledge,
    carry,
    isStopping,
    wakeWhoCanGoOn,
    wake: (pool) => serving[pool].wake(),
  });

  /** Returns how long to rest before the next round, 0 where there may be more to take at once. */
  const serve = async (pool: PoolName): Promise<number> => {
    const sent = await serveNext(pool);
    if (sent === null) return Math.max(1, Math.min(ready.soonestMs(), LOOK_EVERY_MS));
    const rests = pool === 'quick' ? sent >= LARGE_LOT && ctx.metrics.requestsUnderWay() > 0 : sent > 0;
    if (rests) await pause(time, REST_MS);
    return 0;
  };
  const look = async (): Promise<number> => {
    await lookout.look();
    wakeAll();
    return LOOK_EVERY_MS;
  };

  const parts = { log: ctx.log, time, move };
  const looking = startLoop(parts, look);
  // Whoever was to be served is forgotten after a fault; a look finds them again.
  const serving = {
    quick: startLoop(parts, () => serve('quick'), looking.wake),
    slow: startLoop(parts, () => serve('slow'), looking.wake),
    failing: startLoop(parts, () => serve('failing'), looking.wake),
  };
  const all = [looking, ...Object.values(serving)];
  return { wakeAll, look: looking.wake, stop: () => Promise.all(all.map((loop) => loop.stop())) };
};

/** What to do on a wake-up call: there is something to send to this client; null: to somebody. */
const createListener =
  ({ leases, ready }: Knowledge, loops: { wakeAll(): void; look(): void }) =>
  (clientId: string | null): void => {
    if (clientId === null) {
      leases.askAgain();
      loops.look();
      return;
    }
    const waitMs = leases.askAfterMs(clientId);
    if (waitMs > 0) ready.callAfter(clientId, waitMs);
    if (waitMs > 0 || ready.call(clientId)) loops.wakeAll();
  };

/**
 * Brings deliveries from the outbox to their receivers. To serve a receiver: take its lease → read a few due deliveries →
 * send with no transaction open → settle in batches. What waits, waits in the database; in memory is only what is on its way
 * and who may have more. The loops run on timers and the process's own clock; only due times and leases, which processes
 * share, are judged by `ctx.clock`. States and moves: states.ts.
 */
export const startDispatcher = async (
  ctx: Context,
  sender: Sender,
  overrides: Overrides = {},
): Promise<Dispatcher> => {
  const knowledge = createKnowledge(ctx, overrides);
  const { inFlight, settler, time } = knowledge;
  let stopping = false;
  const loops = startLoops(ctx, sender, knowledge, () => stopping);
  const unlisten = await ctx.onWake('deliveries', createListener(knowledge, loops));
  const stopKeeping = keepLeases(ctx, knowledge);

  return {
    async stop() {
      stopping = true;
      const step = createSteps(ctx, time);
      const handOver = createHandOver(ctx, knowledge);
      const finished = Promise.all([loops.stop(), inFlight.allSettled()]);
      const stopHandingOver = handOver.meanwhile();
      await step('finish exchanges', finished, FINISH_WITHIN_MS);
      stopHandingOver();
      stopKeeping();
      settler.giveUp();
      await step('break off exchanges', sender.close(), LAST_STEP_WITHIN_MS);
      await step('release leases', Promise.all([handOver.all(), unlisten()]), LAST_STEP_WITHIN_MS);
    },
  };
};
