import { lowestId } from '../../lib/ids.ts';
import type { Core } from '../../platform/core.ts';
import { warning } from '../../platform/log.ts';
import {
  BESIDE_REQUESTS_A_ROUND,
  DELIVERIES_A_ROUND,
  FINISH_WITHIN_MS,
  GIVE_UP_AFTER_MS,
  LAST_STEP_WITHIN_MS,
  LIMITS,
  LONGEST_WAIT_MS,
  type PoolLimits,
  RELEASE_EVERY_MS,
  RENEW_MS,
  REST_MS,
  SCAN_EVERY_MS,
  SMALL_ROUND,
  UNHEALTHY_A_ROUND,
} from '../policy.ts';
import { DROPPED_BECAUSE } from '../queue.ts';
import type { WebhookServices } from '../services.ts';
import { createAttempts } from './attempt.ts';
import {
  type Destination,
  type Due,
  destinationsOf,
  dropTooOld,
  due,
  furthestDueAt,
  SCANNED_AT_ONCE,
  type Waiting,
  waitingReceivers,
} from './delivery-queue.ts';
import { ReceiverFailures } from './failures.ts';
import { Leases } from './leases.ts';
import { Loop, type Moment, type OwnTime, pause, Stopwatch, systemTime } from './own-time.ts';
import { type Chosen, type Health, Receivers } from './receivers.ts';
import { createSender, type Sender } from './send.ts';
import { Settler } from './settle.ts';

/** Then requests get their turn: Node takes one new connection a turn of its event loop. */
const SENT_IN_A_TURN = 8;

type DispatcherServices = Core & Pick<WebhookServices, 'notifyReceiverState'>;

/** What a test may put in place of the real thing. */
export interface DispatcherOverrides {
  time?: OwnTime;
  limits?: PoolLimits;
  settler?: Pick<Settler, 'add' | 'giveUp'>;
}

/**
 * Brings deliveries from the outbox to their receivers: take a receiver's lease → read what is due → send with no transaction
 * open → settle in batches. What waits, waits in the database. Due times and leases, which processes share, are judged by
 * `ctx.clock`; all else runs on the process's own clock. States: receivers.ts.
 */
export class Dispatcher {
  readonly receivers: Receivers;
  readonly #ctx: DispatcherServices;
  readonly #sender: Sender;
  readonly #time: OwnTime;
  readonly #stopwatch: Stopwatch;
  readonly #leases: Leases;
  readonly #settler: Pick<Settler, 'add' | 'giveUp'>;
  readonly #attempt: ReturnType<typeof createAttempts>;
  readonly #failures: ReceiverFailures;
  readonly #scanning: Loop;
  readonly #checking: Loop;
  readonly #delivering: Record<Health, Loop>;
  readonly #keeping: Loop;
  #nextScan: Moment;
  #isStopping = false;
  readonly #unlisten: () => void;

  constructor(ctx: DispatcherServices, sender: Sender, overrides: DispatcherOverrides = {}) {
    const { time = systemTime, limits = LIMITS, settler = new Settler(ctx) } = overrides;
    const { log } = ctx;
    this.#ctx = ctx;
    this.#sender = sender;
    this.#time = time;
    this.#stopwatch = new Stopwatch(ctx.clock, time);
    this.#nextScan = this.#stopwatch.in(0);
    this.#leases = new Leases(ctx, time);
    this.#settler = settler;
    this.#attempt = createAttempts(ctx, sender, time);
    this.#failures = new ReceiverFailures(ctx);
    this.receivers = new Receivers({
      limits,
      time,
      stopwatch: this.#stopwatch,
      onForbidden: (message) =>
        log.error({ error: message }, 'forbidden state transition in the webhook dispatcher'),
      onReady: (pool) => this.#delivering[pool].wake(),
      onTimer: () => this.#scanning.wake(),
    });
    const parts = { log, time, failure: 'the webhook queue could not be read; it will be tried again' };
    const scanAgain = () => {
      this.#nextScan = this.#stopwatch.in(0);
    };
    this.#scanning = new Loop({ ...parts, step: () => this.#scanWhenDue(), afterError: scanAgain });
    this.#checking = new Loop({ ...parts, step: () => this.#failures.check() });
    // The receivers of a round that failed are found again by a scan.
    const loopFor = (pool: Health) =>
      new Loop({ ...parts, step: () => this.#round(pool), afterError: () => this.#scanNow() });
    this.#delivering = { healthy: loopFor('healthy'), unhealthy: loopFor('unhealthy') };
    this.#keeping = this.#leaseLoop('keep', RENEW_MS);
    this.#unlisten = ctx.onWake('deliveries', (receiverId) => this.#onWake(receiverId));
  }

  #leaseLoop(what: 'keep' | 'release', everyMs: number): Loop {
    const step = async () => {
      await this.#leases[what](this.receivers.unsettled());
      return everyMs;
    };
    const failure = `could not ${what} webhook leases; it will be tried again`;
    return new Loop({ log: this.#ctx.log, time: this.#time, step, failure });
  }

  /** Sends nothing more, finishes exchanges that end soon, releases its leases. Never throws. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const loops = [this.#scanning, this.#checking, ...Object.values(this.#delivering)].map((loop) =>
      loop.stop(),
    );
    // Again and again, so that one receiver that hangs does not delay the next event of the others.
    const releasing = this.#leaseLoop('release', RELEASE_EVERY_MS);
    const finished = Promise.all([...loops, this.receivers.allSettled()]);
    await this.#step('finishing exchanges', finished, FINISH_WITHIN_MS);
    void releasing.stop();
    void this.#keeping.stop();
    this.#settler.giveUp();
    await this.#step('breaking off exchanges', this.#sender.close(), LAST_STEP_WITHIN_MS);
    this.#unlisten();
    await this.#step('releasing leases', this.#leases.release([]), LAST_STEP_WITHIN_MS);
  }
  /** One step of a stop may fail or hang, and the next one comes all the same. */
  async #step(step: string, work: Promise<unknown>, withinMs: number): Promise<void> {
    const late = Promise.withResolvers<never>();
    const tookTooLong = Object.assign(new Error('took too long'), { code: 'ETIMEDOUT' });
    const cancel = this.#time.after(withinMs, () => late.reject(tookTooLong));
    await Promise.race([work, late.promise]).catch(
      warning(this.#ctx.log, `stopping webhooks: ${step} failed`),
    );
    cancel();
  }

  /** There is something to send to this receiver; null: to some receiver, or another process released its leases. */
  #onWake(receiverId: string | null): void {
    const waitMs = receiverId === null ? 0 : this.#leases.askAfterMs(receiverId);
    if (receiverId === null) {
      this.#leases.askAgain();
      this.#scanNow();
    } else if (waitMs > 0) this.receivers.wakeAfter(receiverId, waitMs);
    else this.receivers.wake(receiverId, { isUrgent: true });
    this.receivers.fireTimers();
  }

  #scanNow(): void {
    this.#nextScan = this.#stopwatch.in(0);
    this.#scanning.wake();
  }
  async #scanWhenDue(): Promise<number> {
    this.receivers.fireTimers();
    if (this.#stopwatch.msUntil(this.#nextScan) <= 0) {
      this.#nextScan = this.#stopwatch.in(SCAN_EVERY_MS);
      await this.#scan('first attempts');
      await this.#scan('retries');
    }
    const restMs = Math.min(this.receivers.msToNextTimer(), this.#stopwatch.msUntil(this.#nextScan));
    return Math.max(1, restMs);
  }
  async #scan(which: 'first attempts' | 'retries'): Promise<void> {
    let found: Waiting[] = [];
    do {
      // Events that come meanwhile go first: a scan of 20,000 receivers at once made them 100 ms late.
      if (found.length > 0) await pause(this.#time, REST_MS);
      found = await waitingReceivers(this.#ctx, which, found.at(-1)?.receiverId ?? lowestId(0));
      const nowMs = this.#ctx.clock.now();
      for (const { receiverId, firstDueAt, lastDueAt } of found) {
        const waitMs = lastDueAt > furthestDueAt(nowMs) ? 0 : firstDueAt - nowMs;
        this.receivers.wakeAfter(receiverId, Math.max(waitMs, this.#leases.askAfterMs(receiverId)));
      }
      this.receivers.fireTimers();
    } while (found.length === SCANNED_AT_ONCE && !this.#isStopping);
  }

  /** Reads and sends for the next receivers of a pool. Returns how long its loop may rest. */
  async #round(pool: Health): Promise<number> {
    const isBesideRequests = this.#ctx.metrics.openRequests > 0;
    const most = {
      healthy: isBesideRequests ? BESIDE_REQUESTS_A_ROUND : DELIVERIES_A_ROUND,
      unhealthy: UNHEALTHY_A_ROUND,
    };
    const chosen = this.receivers.choose(pool, most[pool]);
    if (chosen.length === 0) return SCAN_EVERY_MS;
    let ours = chosen;
    let sent = 0;
    try {
      ours = await this.#leases.of(chosen);
      if (ours.length > 0) sent = await this.#serve(ours);
    } finally {
      for (const each of chosen) this.receivers.wasRead(each.receiver, { isOurs: ours.includes(each) });
    }
    const rests = pool === 'unhealthy' ? sent > 0 : isBesideRequests && sent > SMALL_ROUND;
    if (rests) await pause(this.#time, REST_MS);
    return 0;
  }

  async #serve(ours: Chosen[]): Promise<number> {
    const nowMs = this.#ctx.clock.now();
    const receiverIds = ours.map(({ receiverId }) => receiverId);
    const unsettled = ours.flatMap(({ receiver }) => [...receiver.unsettled]);
    const most = Math.max(...ours.map(({ room }) => room));
    const [found, destinations] = await Promise.all([
      due(this.#ctx, { receiverIds, unsettled, most }, nowMs),
      destinationsOf(this.#ctx, receiverIds, nowMs),
    ]);
    const byReceiver = Map.groupBy(found, ({ receiverId }) => receiverId);
    const withRoom = ours.flatMap(({ receiverId, room }) => byReceiver.get(receiverId)?.slice(0, room) ?? []);
    const deliveries: Due[] = [];
    for (const [receiverId, waiting] of Map.groupBy(withRoom, (each) => each.receiverId))
      deliveries.push(...(await this.#withoutTooOld(receiverId, waiting)));
    for (const [i, delivery] of deliveries.entries()) {
      if (i > 0 && i % SENT_IN_A_TURN === 0) await this.#time.nextTurn();
      if (this.#isStopping) return i;
      // After a sleep, what was read is old: another process may have sent it meanwhile.
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

  /** Drops what waited too long; returns what is still to be sent. */
  async #withoutTooOld(receiverId: string, waiting: Due[]): Promise<Due[]> {
    const { clock, log, metrics } = this.#ctx;
    const nowMs = clock.now();
    const beforeMs = nowMs - GIVE_UP_AFTER_MS;
    const young = waiting.filter(({ createdAt }) => createdAt >= beforeMs);
    if (young.length < waiting.length) {
      const unsettled = this.receivers.unsettledOf(receiverId);
      const count = await dropTooOld(this.#ctx, { receiverId, unsettled }, { nowMs, beforeMs });
      log.warn({ receiverId, count, reason: DROPPED_BECAUSE.tooOld }, 'webhooks dropped');
      metrics.droppedDeliveries.inc(count);
      this.receivers.wake(receiverId, { isUrgent: false });
    }
    return young;
  }

  async #deliver(delivery: Due, destination: Destination | undefined): Promise<void> {
    const { receiverId, id, body } = delivery;
    const exchange = this.receivers.start(receiverId, id, body?.length ?? 0);
    const settlement = await this.#attempt(delivery, destination);
    this.receivers.finish(exchange, settlement && settlement.status === 'DELIVERED');
    try {
      const isWritten = settlement !== null && (await this.#settler.add(settlement));
      if (isWritten) await this.#failures.observe(delivery, destination, settlement);
      // Not before that: no round reads the delivery until its exchange ends, so an earlier timer may fire in vain.
      if (isWritten && settlement.status === 'PENDING') {
        const waitMs = Math.min(settlement.dueAt - this.#ctx.clock.now(), LONGEST_WAIT_MS);
        this.receivers.wakeAfter(receiverId, waitMs);
      }
      this.receivers.end(exchange, 'settled');
    } catch {
      // The settler has logged it.
      this.receivers.end(exchange, 'set aside');
    }
  }
}

/**
 * Begins to send. The returned function stops that within 5 s, whatever receivers and the database do, and never throws:
 * it may run beside the end of requests, but before the database is closed.
 */
export const startWebhooks = (ctx: WebhookServices): (() => Promise<void>) => {
  const dispatcher = new Dispatcher(ctx, createSender(ctx.addressGuard));
  return () => dispatcher.stop();
};
