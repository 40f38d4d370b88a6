import { lowestId } from '../../lib/ids.ts';
import type { Core } from '../../platform/core.ts';
import { warning } from '../../platform/log.ts';
import {
  DELIVERIES_PER_BUSY_ROUND,
  DELIVERIES_PER_ROUND,
  FINISH_WITHIN_MS,
  GIVE_UP_AFTER_MS,
  MAX_RETRY_DELAY_MS,
  POOL_LIMITS,
  type PoolLimits,
  RELEASE_EVERY_MS,
  RENEW_MS,
  REST_MS,
  SCAN_EVERY_MS,
  SMALL_ROUND,
  STOP_PHASE_WITHIN_MS,
  UNHEALTHY_PER_ROUND,
} from '../policy.ts';
import { DROP_REASONS } from '../queue.ts';
import type { WebhookServices } from '../services.ts';
import { createAttempts } from './attempt.ts';
import {
  type Destination,
  type DueDelivery,
  dropTooOld,
  latestPlausibleDueAt,
  readDestinations,
  readDueDeliveries,
  SCAN_CHUNK,
  type WaitingReceiver,
  waitingReceivers,
} from './delivery-queue.ts';
import { ReceiverFailures } from './failures.ts';
import { Leases } from './leases.ts';
import {
  type Deadline,
  DeadlineClock,
  Loop,
  type MonotonicClock,
  pause,
  systemMonotonicClock,
} from './monotonic-clock.ts';
import { type ChosenReceiver, type Health, Receivers } from './receivers.ts';
import { createSender, type Sender } from './send.ts';
import { Settler } from './settle.ts';

/** After this many sends the loop yields to requests: Node accepts one new connection per turn of its event loop. */
const SENDS_PER_TURN = 8;

type DispatcherServices = Core & Pick<WebhookServices, 'notifyReceiverState'>;

/** The parts that a test may replace. */
export interface DispatcherOverrides {
  time?: MonotonicClock;
  limits?: PoolLimits;
  settler?: Pick<Settler, 'add' | 'giveUp'>;
}

/**
 * Sends deliveries from the outbox to their receivers: acquire a receiver's lease → read its due deliveries → send without an
 * open transaction → settle in batches. Pending deliveries stay in the database. Processes share due times and leases, so these
 * use `ctx.clock`; everything else uses the monotonic clock of the process. receivers.ts has the states.
 */
export class Dispatcher {
  readonly receivers: Receivers;
  readonly #ctx: DispatcherServices;
  readonly #sender: Sender;
  readonly #time: MonotonicClock;
  readonly #deadlines: DeadlineClock;
  readonly #leases: Leases;
  readonly #settler: Pick<Settler, 'add' | 'giveUp'>;
  readonly #attempt: ReturnType<typeof createAttempts>;
  readonly #failures: ReceiverFailures;
  readonly #scanLoop: Loop;
  readonly #failureLoop: Loop;
  readonly #sendLoops: Record<Health, Loop>;
  readonly #renewLoop: Loop;
  #nextScan: Deadline;
  #isStopping = false;
  readonly #unlisten: () => void;

  constructor(ctx: DispatcherServices, sender: Sender, overrides: DispatcherOverrides = {}) {
    const { time = systemMonotonicClock, limits = POOL_LIMITS, settler = new Settler(ctx) } = overrides;
    const { log } = ctx;
    this.#ctx = ctx;
    this.#sender = sender;
    this.#time = time;
    this.#deadlines = new DeadlineClock(ctx.clock, time);
    this.#nextScan = this.#deadlines.in(0);
    this.#leases = new Leases(ctx, time);
    this.#settler = settler;
    this.#attempt = createAttempts(ctx, sender, time);
    this.#failures = new ReceiverFailures(ctx);
    this.receivers = new Receivers({
      limits,
      time,
      deadlines: this.#deadlines,
      onForbidden: (message) =>
        log.error({ error: message }, 'forbidden state transition in the webhook dispatcher'),
      onReady: (pool) => this.#sendLoops[pool].wake(),
      onTimer: () => this.#scanLoop.wake(),
    });
    const common = { log, time, failure: 'the webhook queue could not be read; it will be tried again' };
    const scanAgain = () => {
      this.#nextScan = this.#deadlines.in(0);
    };
    this.#scanLoop = new Loop({ ...common, step: () => this.#scanWhenDue(), afterError: scanAgain });
    this.#failureLoop = new Loop({
      ...common,
      failure: 'the failing webhook receivers could not be read; it will be tried again',
      step: () => this.#failures.check(),
    });
    // The scan finds the receivers of a failed round again.
    const loopFor = (pool: Health) =>
      new Loop({ ...common, step: () => this.#round(pool), afterError: () => this.#scanNow() });
    this.#sendLoops = { healthy: loopFor('healthy'), unhealthy: loopFor('unhealthy') };
    this.#renewLoop = this.#startLeaseLoop('renew', RENEW_MS);
    this.#unlisten = ctx.onWake('deliveries', (receiverId) => this.#onWake(receiverId));
  }

  #startLeaseLoop(what: 'renew' | 'release', everyMs: number): Loop {
    const step = async () => {
      await this.#leases[what](this.receivers.unsettled());
      return everyMs;
    };
    const failure = `could not ${what} webhook leases; it will be tried again`;
    return new Loop({ log: this.#ctx.log, time: this.#time, step, failure });
  }

  /** Stops sending, waits for exchanges that end soon, and releases the leases. It never throws. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const loops = [this.#scanLoop, this.#failureLoop, ...Object.values(this.#sendLoops)].map((loop) =>
      loop.stop(),
    );
    // Leases are released repeatedly, so that a receiver that hangs does not delay the next events of the others.
    const releasing = this.#startLeaseLoop('release', RELEASE_EVERY_MS);
    const finished = Promise.all([...loops, this.receivers.allSettled()]);
    await this.#stopPhase('finishing exchanges', finished, FINISH_WITHIN_MS);
    void releasing.stop();
    void this.#renewLoop.stop();
    this.#settler.giveUp();
    await this.#stopPhase('aborting exchanges', this.#sender.close(), STOP_PHASE_WITHIN_MS);
    this.#unlisten();
    await this.#stopPhase('releasing leases', this.#leases.release([]), STOP_PHASE_WITHIN_MS);
  }
  /** Runs one phase of the stop. The next phase follows even if this one fails or hangs. */
  async #stopPhase(phase: string, work: Promise<unknown>, withinMs: number): Promise<void> {
    const late = Promise.withResolvers<never>();
    const tookTooLong = Object.assign(new Error('took too long'), { code: 'ETIMEDOUT' });
    const cancel = this.#time.after(withinMs, () => late.reject(tookTooLong));
    await Promise.race([work, late.promise]).catch(
      warning(this.#ctx.log, `stopping webhooks: ${phase} failed`),
    );
    cancel();
  }

  /** A receiver has new deliveries. Null means an unknown receiver, or that another process has released its leases. */
  #onWake(receiverId: string | null): void {
    const waitMs = receiverId === null ? 0 : this.#leases.msUntilLeaseMayBeFree(receiverId);
    if (receiverId === null) {
      this.#leases.forgetOtherHolders();
      this.#scanNow();
    } else if (waitMs > 0) this.receivers.wakeAfter(receiverId, waitMs);
    else this.receivers.wake(receiverId, { isUrgent: true });
    this.receivers.fireTimers();
  }

  #scanNow(): void {
    this.#nextScan = this.#deadlines.in(0);
    this.#scanLoop.wake();
  }
  async #scanWhenDue(): Promise<number> {
    this.receivers.fireTimers();
    if (this.#deadlines.msUntil(this.#nextScan) <= 0) {
      this.#nextScan = this.#deadlines.in(SCAN_EVERY_MS);
      await this.#scan('first attempts');
      await this.#scan('retries');
    }
    const restMs = Math.min(this.receivers.msToNextTimer(), this.#deadlines.msUntil(this.#nextScan));
    return Math.max(1, restMs);
  }
  async #scan(which: 'first attempts' | 'retries'): Promise<void> {
    let found: WaitingReceiver[] = [];
    do {
      // New events go first: an uninterrupted scan of 20,000 receivers delayed them by 100 ms.
      if (found.length > 0) await pause(this.#time, REST_MS);
      found = await waitingReceivers(this.#ctx, which, found.at(-1)?.receiverId ?? lowestId(0));
      const nowMs = this.#ctx.clock.now();
      for (const { receiverId, firstDueAt, lastDueAt } of found) {
        const waitMs = lastDueAt > latestPlausibleDueAt(nowMs) ? 0 : firstDueAt - nowMs;
        this.receivers.wakeAfter(
          receiverId,
          Math.max(waitMs, this.#leases.msUntilLeaseMayBeFree(receiverId)),
        );
      }
      this.receivers.fireTimers();
    } while (found.length === SCAN_CHUNK && !this.#isStopping);
  }

  /** Reads and sends deliveries for the next receivers of a pool. It returns how long the loop may rest. */
  async #round(pool: Health): Promise<number> {
    const isServingRequests = this.#ctx.metrics.openRequests > 0;
    const most = {
      healthy: isServingRequests ? DELIVERIES_PER_BUSY_ROUND : DELIVERIES_PER_ROUND,
      unhealthy: UNHEALTHY_PER_ROUND,
    };
    const chosen = this.receivers.choose(pool, most[pool]);
    if (chosen.length === 0) return SCAN_EVERY_MS;
    let ours = chosen;
    let sent = 0;
    try {
      ours = await this.#leases.acquire(chosen);
      if (ours.length > 0) sent = await this.#serve(ours);
    } finally {
      for (const each of chosen) this.receivers.afterRead(each.receiver, { isOurs: ours.includes(each) });
    }
    const mustRest = pool === 'unhealthy' ? sent > 0 : isServingRequests && sent > SMALL_ROUND;
    if (mustRest) await pause(this.#time, REST_MS);
    return 0;
  }

  async #serve(ours: ChosenReceiver[]): Promise<number> {
    const nowMs = this.#ctx.clock.now();
    const receiverIds = ours.map(({ receiverId }) => receiverId);
    const unsettled = ours.flatMap(({ receiver }) => [...receiver.unsettled]);
    const most = Math.max(...ours.map(({ room }) => room));
    const [found, destinations] = await Promise.all([
      readDueDeliveries(this.#ctx, { receiverIds, unsettled, most }, nowMs),
      readDestinations(this.#ctx, receiverIds, nowMs),
    ]);
    const byReceiver = Map.groupBy(found, ({ receiverId }) => receiverId);
    const fitting = ours.flatMap(({ receiverId, room }) => byReceiver.get(receiverId)?.slice(0, room) ?? []);
    const deliveries: DueDelivery[] = [];
    for (const [receiverId, waiting] of Map.groupBy(fitting, (each) => each.receiverId))
      deliveries.push(...(await this.#withoutTooOld(receiverId, waiting)));
    for (const [i, delivery] of deliveries.entries()) {
      if (i > 0 && i % SENDS_PER_TURN === 0) await this.#time.nextTurn();
      if (this.#isStopping) return i;
      // The process may have slept since the read, and another process may have sent the delivery meanwhile.
      if (!this.#leases.holds(delivery.receiverId)) {
        this.receivers.wake(delivery.receiverId, { isUrgent: false });
        continue;
      }
      this.#deliver(delivery, destinations.get(delivery.receiverId)).catch(
        warning(this.#ctx.log, 'unexpected error in webhook delivery'),
      );
    }
    for (const { receiver, receiverId, room } of ours) {
      receiver.hasBacklog = (byReceiver.get(receiverId)?.length ?? 0) >= room;
      const nextRetryAt = destinations.get(receiverId)?.nextRetryAt ?? null;
      if (receiver.hasBacklog) this.receivers.wake(receiverId, { isUrgent: false });
      else if (nextRetryAt !== null)
        this.receivers.wakeAfter(receiverId, nextRetryAt - this.#ctx.clock.now());
    }
    return deliveries.length;
  }

  /** Drops expired deliveries and returns the rest. */
  async #withoutTooOld(receiverId: string, waiting: DueDelivery[]): Promise<DueDelivery[]> {
    const { clock, log, metrics } = this.#ctx;
    const nowMs = clock.now();
    const beforeMs = nowMs - GIVE_UP_AFTER_MS;
    const young = waiting.filter(({ createdAt }) => createdAt >= beforeMs);
    if (young.length < waiting.length) {
      const unsettled = this.receivers.unsettledOf(receiverId);
      const count = await dropTooOld(this.#ctx, { receiverId, unsettled }, { nowMs, beforeMs });
      log.warn({ receiverId, count, reason: DROP_REASONS.tooOld }, 'webhooks dropped');
      metrics.droppedDeliveries.inc(count);
      this.receivers.wake(receiverId, { isUrgent: false });
    }
    return young;
  }

  async #deliver(delivery: DueDelivery, destination: Destination | undefined): Promise<void> {
    const { receiverId, id, body } = delivery;
    const exchange = this.receivers.start(receiverId, id, body?.length ?? 0);
    const settlement = await this.#attempt(delivery, destination);
    this.receivers.finish(exchange, settlement && settlement.status === 'DELIVERED');
    try {
      const isWritten = settlement !== null && (await this.#settler.add(settlement));
      if (isWritten) await this.#failures.observe(delivery, destination, settlement);
      // The timer starts only here: a round that it woke earlier would skip this delivery as unsettled.
      if (isWritten && settlement.status === 'PENDING') {
        const waitMs = Math.min(settlement.dueAt - this.#ctx.clock.now(), MAX_RETRY_DELAY_MS);
        this.receivers.wakeAfter(receiverId, waitMs);
      }
      this.receivers.end(exchange, 'settled');
    } catch {
      // The settler has logged the error.
      this.receivers.end(exchange, 'set aside');
    }
  }
}

/**
 * Starts to send. The returned function stops it within 5 s, whatever receivers and the database do, and never throws.
 * It may run while requests end, but must finish before the database is closed.
 */
export const startWebhooks = (ctx: WebhookServices): (() => Promise<void>) => {
  const dispatcher = new Dispatcher(ctx, createSender(ctx.addressGuard));
  return () => dispatcher.stop();
};
