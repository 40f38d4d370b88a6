import { MAX_SLOTS, type PoolLimits, RECEIVERS_PER_ROUND, SLOW_AFTER_MS, slotsFor } from '../policy.ts';
import type { Deadline, DeadlineClock, MonotonicClock } from './monotonic-clock.ts';

// This file has the states of exchanges and receivers and their transitions (diagrams: docs/architecture.md, "The dispatcher").

type Transitions<State extends string> = Readonly<Record<State, readonly State[]>>;

/** The state of one request and its response. It is set aside if the database rejects its result for good. */
type ExchangeState = 'young' | 'slow' | 'finished' | 'settled' | 'set aside';
const EXCHANGE_TRANSITIONS: Transitions<ExchangeState> = {
  young: ['slow', 'finished'],
  slow: ['finished'],
  finished: ['settled', 'set aside'],
  settled: [],
  'set aside': [],
};

/** The state of a receiver in this process. */
type ReceiverState = 'idle' | 'ready' | 'being read' | 'woken while read' | 'full';
const RECEIVER_TRANSITIONS: Transitions<ReceiverState> = {
  idle: ['ready', 'full'],
  ready: ['being read'],
  'being read': ['woken while read', 'idle'],
  'woken while read': ['ready', 'full', 'idle'],
  full: ['ready'],
};

/** The pool whose slots the exchanges of a receiver take. */
export type Health = 'healthy' | 'unhealthy';

/** A receiver with deliveries that are pending or in progress. */
export class TrackedReceiver {
  readonly id: string;
  state: ReceiverState = 'idle';
  health: Health = 'healthy';
  /** True after a wake-up by a commit or a retry, not by the scan or the backlog. An urgent receiver goes first. */
  isUrgent = false;
  /** True if the last read of its queue found as many deliveries as it asked for. */
  hasBacklog = false;
  exchanges = 0;
  /** The deliveries whose result is not written yet, which no round reads again. */
  readonly unsettled = new Set<string>();

  constructor(id: string) {
    this.id = id;
  }
}

export interface Exchange {
  readonly deliveryId: string;
  readonly receiver: TrackedReceiver;
  readonly slots: number;
  state: ExchangeState;
  pool: Health;
  cancelTimer: () => void;
}

/** A receiver whose queue is read next, and the number of its deliveries that may be sent. */
export interface ChosenReceiver {
  receiver: TrackedReceiver;
  receiverId: string;
  room: number;
}

interface ReceiversOptions {
  limits: PoolLimits;
  time: MonotonicClock;
  deadlines: DeadlineClock;
  onForbidden(message: string): void;
  /** Is called when a receiver of this pool is ready and there are free slots. */
  onReady(pool: Health): void;
  onTimer(): void;
}

const newReadyQueue = () => ({ urgent: new Set<TrackedReceiver>(), backlog: new Set<TrackedReceiver>() });

/** The active receivers with their exchanges and retry timers. An inactive receiver is forgotten, including its health. */
export class Receivers {
  readonly #options: ReceiversOptions;
  readonly #known = new Map<string, TrackedReceiver>();
  readonly #exchanges = new Map<string, Exchange>();
  readonly #ready = { healthy: newReadyQueue(), unhealthy: newReadyQueue() };
  readonly #slotsTaken = { healthy: 0, unhealthy: 0 };
  /** The time at which each retry timer fires. */
  readonly #timed = new Map<TrackedReceiver, Deadline>();
  #nextTimer: Deadline | null = null;
  #whenAllSettled: () => void = () => {};

  constructor(options: ReceiversOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#known.size;
  }
  slotsTaken(pool: Health): number {
    return this.#slotsTaken[pool];
  }

  wake(receiverId: string, { isUrgent }: { isUrgent: boolean }): void {
    const receiver = this.#track(receiverId);
    if (receiver.state === 'ready') {
      if (!isUrgent || receiver.isUrgent) return;
      this.#queueOf(receiver).delete(receiver);
    }
    receiver.isUrgent ||= isUrgent;
    if (receiver.state === 'being read') this.#change(RECEIVER_TRANSITIONS, receiver, 'woken while read');
    else if (receiver.state !== 'woken while read') this.#makeReady(receiver);
  }

  /** Wakes a receiver after a time, or earlier if it has an earlier timer. Overdue deliveries belong to the backlog. */
  wakeAfter(receiverId: string, waitMs: number): void {
    const { deadlines, onTimer } = this.#options;
    const receiver = this.#track(receiverId);
    const known = this.#timed.get(receiver);
    if (waitMs <= 0) this.wake(receiverId, { isUrgent: false });
    else if (!known || deadlines.msUntil(known) > waitMs) {
      const at = deadlines.in(waitMs);
      this.#timed.set(receiver, at);
      this.#nextTimer = earliestDeadline(this.#nextTimer, at);
      onTimer();
    }
  }
  msToNextTimer(): number {
    return this.#nextTimer ? this.#options.deadlines.msUntil(this.#nextTimer) : Number.POSITIVE_INFINITY;
  }
  fireTimers(): void {
    if (this.msToNextTimer() > 0) return;
    this.#nextTimer = null;
    for (const [receiver, at] of this.#timed)
      if (this.#options.deadlines.msUntil(at) > 0) this.#nextTimer = earliestDeadline(this.#nextTimer, at);
      else {
        this.#timed.delete(receiver);
        this.wake(receiver.id, { isUrgent: true });
      }
  }

  /** Takes the next receivers of a pool. Urgent ones get three of four slots, so that the backlog always advances. */
  choose(pool: Health, mostDeliveries: number): ChosenReceiver[] {
    // Body sizes are not known before the read, so each counts as one of the largest.
    const slots = Math.ceil(this.#freeSlots(pool) / MAX_SLOTS);
    const deliveries = Math.min(mostDeliveries, slots);
    const { most, withBacklog } = RECEIVERS_PER_ROUND;
    const expected = ({ hasBacklog }: TrackedReceiver): number =>
      Math.ceil(deliveries / (hasBacklog ? withBacklog : most));
    const chosen: TrackedReceiver[] = [];
    let taken = 0;
    const take = (queue: Set<TrackedReceiver>, upTo: number): void => {
      for (const receiver of queue) {
        if (taken >= upTo) return;
        taken += expected(receiver);
        chosen.push(receiver);
      }
    };
    const { urgent, backlog } = this.#ready[pool];
    take(urgent, Math.ceil(deliveries * 0.75));
    take(backlog, deliveries);
    const share = Math.floor(deliveries / chosen.length);
    return chosen.map((receiver) => {
      this.#queueOf(receiver).delete(receiver);
      this.#change(RECEIVER_TRANSITIONS, receiver, 'being read');
      receiver.isUrgent = false;
      const room = Math.min(share, this.#options.limits.perReceiver - receiver.exchanges);
      return { receiver, receiverId: receiver.id, room };
    });
  }
  /** Ends a read of the queue. If another process holds the lease, wake-ups are dropped, since that process gets them too. */
  afterRead(receiver: TrackedReceiver, { isOurs }: { isOurs: boolean }): void {
    if (isOurs && receiver.state === 'woken while read') this.#makeReady(receiver);
    else {
      this.#change(RECEIVER_TRANSITIONS, receiver, 'idle');
      receiver.isUrgent = false;
      this.#forgetIfDone(receiver);
    }
  }

  start(receiverId: string, deliveryId: string, bodyBytes: number): Exchange {
    const receiver = this.#track(receiverId);
    const exchange: Exchange = {
      deliveryId,
      receiver,
      slots: slotsFor(bodyBytes),
      state: 'young',
      pool: receiver.health,
      cancelTimer: this.#options.time.after(SLOW_AFTER_MS, () => this.#becomeSlow(exchange)),
    };
    this.#slotsTaken[exchange.pool] += exchange.slots;
    this.#exchanges.set(deliveryId, exchange);
    receiver.exchanges += 1;
    receiver.unsettled.add(deliveryId);
    return exchange;
  }
  /** `isAcknowledged` is null if a stop aborted the exchange, which does not change the health of the receiver. */
  finish(exchange: Exchange, isAcknowledged: boolean | null): void {
    const { receiver } = exchange;
    const isQuick = exchange.state === 'young';
    exchange.cancelTimer();
    this.#change(EXCHANGE_TRANSITIONS, exchange, 'finished');
    receiver.exchanges -= 1;
    if (isAcknowledged === false) this.#setHealth(receiver, 'unhealthy');
    else if (isAcknowledged && isQuick) this.#setHealth(receiver, 'healthy');
    // A read of the queue is not worth it for only one free slot.
    if (receiver.state === 'full' && receiver.exchanges <= this.#options.limits.perReceiver / 2)
      this.#makeReady(receiver);
  }
  /** `settled` means that the result is written or a stop gave it up. A delivery that is `set aside` is not sent again here. */
  end(exchange: Exchange, state: 'settled' | 'set aside'): void {
    if (state === 'settled') exchange.receiver.unsettled.delete(exchange.deliveryId);
    this.#change(EXCHANGE_TRANSITIONS, exchange, state);
    this.#exchanges.delete(exchange.deliveryId);
    this.#releaseSlots(exchange);
    this.#forgetIfDone(exchange.receiver);
    if (this.#exchanges.size === 0) this.#whenAllSettled();
  }

  unsettledOf(receiverId: string): string[] {
    return [...(this.#known.get(receiverId)?.unsettled ?? [])];
  }
  unsettled(): string[] {
    return [...new Set([...this.#exchanges.values()].map(({ receiver }) => receiver.id))];
  }
  allSettled(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenAllSettled = resolve;
      if (this.#exchanges.size === 0) resolve();
    });
  }

  #track(receiverId: string): TrackedReceiver {
    let receiver = this.#known.get(receiverId);
    if (!receiver) {
      receiver = new TrackedReceiver(receiverId);
      this.#known.set(receiverId, receiver);
    }
    return receiver;
  }
  #forgetIfDone(receiver: TrackedReceiver): void {
    const { state, exchanges, unsettled } = receiver;
    if (state === 'idle' && exchanges === 0 && unsettled.size === 0 && !this.#timed.has(receiver))
      this.#known.delete(receiver.id);
  }
  /**
   * Every change of state goes through this method. A forbidden transition is reported but still made, because an exchange that
   * is stuck would hold its lease and its slots for ever. Tests fail at the report.
   */
  #change<State extends string>(allowed: Transitions<State>, subject: { state: State }, to: State): void {
    const from = subject.state;
    if (from !== to && !allowed[from].includes(to))
      this.#options.onForbidden(`${from} must not become ${to}`);
    subject.state = to;
  }
  #makeReady(receiver: TrackedReceiver): void {
    const hasRoom = receiver.exchanges < this.#options.limits.perReceiver;
    this.#change(RECEIVER_TRANSITIONS, receiver, hasRoom ? 'ready' : 'full');
    if (!hasRoom) return;
    this.#queueOf(receiver).add(receiver);
    if (this.#freeSlots(receiver.health) > 0) this.#options.onReady(receiver.health);
  }
  #queueOf({ health, isUrgent }: TrackedReceiver): Set<TrackedReceiver> {
    return this.#ready[health][isUrgent ? 'urgent' : 'backlog'];
  }
  #freeSlots(pool: Health): number {
    return Math.max(0, this.#options.limits[pool] - this.#slotsTaken[pool]);
  }
  #setHealth(receiver: TrackedReceiver, health: Health): void {
    if (receiver.health === health) return;
    const isReady = receiver.state === 'ready';
    if (isReady) this.#queueOf(receiver).delete(receiver);
    receiver.health = health;
    if (isReady) this.#makeReady(receiver);
  }
  #becomeSlow(exchange: Exchange): void {
    this.#change(EXCHANGE_TRANSITIONS, exchange, 'slow');
    this.#setHealth(exchange.receiver, 'unhealthy');
    this.#releaseSlots(exchange);
    exchange.pool = 'unhealthy';
    this.#slotsTaken.unhealthy += exchange.slots;
  }
  #releaseSlots({ pool, slots }: Exchange): void {
    this.#slotsTaken[pool] -= slots;
    const { urgent, backlog } = this.#ready[pool];
    if (urgent.size + backlog.size > 0 && this.#freeSlots(pool) > 0) this.#options.onReady(pool);
  }
}

const earliestDeadline = (one: Deadline | null, other: Deadline): Deadline =>
  one ? { sharedMs: Math.min(one.sharedMs, other.sharedMs), ownMs: Math.min(one.ownMs, other.ownMs) } : other;
