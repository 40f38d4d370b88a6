import { MAX_SLOTS, type PoolLimits, RECEIVERS_A_ROUND, SLOW_MS, slotsFor } from '../policy.ts';
import type { Moment, OwnTime, Stopwatch } from './own-time.ts';

// The states of exchanges and receivers, and their allowed transitions. docs/architecture.md, "The dispatcher", has the diagrams.

type Transitions<State extends string> = Readonly<Record<State, readonly State[]>>;

/** One request and its response. Set aside: the database refuses its result for good. */
type ExchangeState = 'young' | 'slow' | 'finished' | 'settled' | 'set aside';
const EXCHANGE: Transitions<ExchangeState> = {
  young: ['slow', 'finished'],
  slow: ['finished'],
  finished: ['settled', 'set aside'],
  settled: [],
  'set aside': [],
};

/** A receiver, as this process sees it. */
type ReceiverState = 'idle' | 'ready' | 'being read' | 'woken while read' | 'full';
const RECEIVER: Transitions<ReceiverState> = {
  idle: ['ready', 'full'],
  ready: ['being read'],
  'being read': ['woken while read', 'idle'],
  'woken while read': ['ready', 'full', 'idle'],
  full: ['ready'],
};

/** Whether a receiver, and an exchange with it, takes room in one pool or the other. */
export type Health = 'healthy' | 'unhealthy';

/** A receiver with deliveries that wait or are being sent. */
export class Receiver {
  readonly id: string;
  state: ReceiverState = 'idle';
  health: Health = 'healthy';
  /** Woken by a commit or a retry, not by the scan or its own backlog: it goes first. */
  isUrgent = false;
  /** The last read of its queue found as much as it asked for. */
  hasBacklog = false;
  exchanges = 0;
  /** Deliveries whose result is not written: no round reads them again. */
  readonly unsettled = new Set<string>();

  constructor(id: string) {
    this.id = id;
  }
}

export interface Exchange {
  readonly deliveryId: string;
  readonly receiver: Receiver;
  readonly slots: number;
  state: ExchangeState;
  pool: Health;
  cancelTimer: () => void;
}

/** A receiver whose queue is to be read, and how many of its deliveries may be sent. */
export interface Chosen {
  receiver: Receiver;
  receiverId: string;
  room: number;
}

interface Parts {
  limits: PoolLimits;
  time: OwnTime;
  stopwatch: Stopwatch;
  onForbidden(message: string): void;
  /** A receiver of this pool is ready and there is room. */
  onReady(pool: Health): void;
  onTimer(): void;
}

const newQueue = () => ({ urgent: new Set<Receiver>(), backlog: new Set<Receiver>() });

/** The receivers that have something to do, their exchanges and retry timers. One with nothing to do is forgotten, its health too. */
export class Receivers {
  readonly #parts: Parts;
  readonly #known = new Map<string, Receiver>();
  readonly #exchanges = new Map<string, Exchange>();
  readonly #ready = { healthy: newQueue(), unhealthy: newQueue() };
  readonly #slots = { healthy: 0, unhealthy: 0 };
  /** Those with a retry timer, and when it fires. */
  readonly #timed = new Map<Receiver, Moment>();
  #nextTimer: Moment | null = null;
  #whenAllSettled: () => void = () => {};

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#known.size;
  }
  slots(pool: Health): number {
    return this.#slots[pool];
  }

  wake(receiverId: string, { isUrgent }: { isUrgent: boolean }): void {
    const receiver = this.#of(receiverId);
    if (receiver.state === 'ready') {
      if (!isUrgent || receiver.isUrgent) return;
      this.#queueOf(receiver).delete(receiver);
    }
    receiver.isUrgent ||= isUrgent;
    if (receiver.state === 'being read') this.#change(RECEIVER, receiver, 'woken while read');
    else if (receiver.state !== 'woken while read') this.#makeReady(receiver);
  }

  /** Wakes it after a time, or earlier where it has an earlier timer. What is overdue belongs to the backlog. */
  wakeAfter(receiverId: string, waitMs: number): void {
    const { stopwatch, onTimer } = this.#parts;
    const receiver = this.#of(receiverId);
    const known = this.#timed.get(receiver);
    if (waitMs <= 0) this.wake(receiverId, { isUrgent: false });
    else if (!known || stopwatch.msUntil(known) > waitMs) {
      const at = stopwatch.in(waitMs);
      this.#timed.set(receiver, at);
      this.#nextTimer = earlier(this.#nextTimer, at);
      onTimer();
    }
  }
  msToNextTimer(): number {
    return this.#nextTimer ? this.#parts.stopwatch.msUntil(this.#nextTimer) : Number.POSITIVE_INFINITY;
  }
  fireTimers(): void {
    if (this.msToNextTimer() > 0) return;
    this.#nextTimer = null;
    for (const [receiver, at] of this.#timed)
      if (this.#parts.stopwatch.msUntil(at) > 0) this.#nextTimer = earlier(this.#nextTimer, at);
      else {
        this.#timed.delete(receiver);
        this.wake(receiver.id, { isUrgent: true });
      }
  }

  /** Takes the next receivers of a pool: three of four slots for urgent ones, so that the backlog never stands still. */
  choose(pool: Health, mostDeliveries: number): Chosen[] {
    // Until it is read, each body may be one of the largest.
    const slots = Math.ceil(this.#free(pool) / MAX_SLOTS);
    const deliveries = Math.min(mostDeliveries, slots);
    const { most, withBacklog } = RECEIVERS_A_ROUND;
    const expected = ({ hasBacklog }: Receiver): number =>
      Math.ceil(deliveries / (hasBacklog ? withBacklog : most));
    const chosen: Receiver[] = [];
    let taken = 0;
    const take = (queue: Set<Receiver>, upTo: number): void => {
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
      this.#change(RECEIVER, receiver, 'being read');
      receiver.isUrgent = false;
      const room = Math.min(share, this.#parts.limits.perReceiver - receiver.exchanges);
      return { receiver, receiverId: receiver.id, room };
    });
  }
  /** Its queue was read, or another process holds its lease and hears of new deliveries itself. */
  wasRead(receiver: Receiver, { isOurs }: { isOurs: boolean }): void {
    if (isOurs && receiver.state === 'woken while read') this.#makeReady(receiver);
    else {
      this.#change(RECEIVER, receiver, 'idle');
      receiver.isUrgent = false;
      this.#forgetIfDone(receiver);
    }
  }

  start(receiverId: string, deliveryId: string, bodyBytes: number): Exchange {
    const receiver = this.#of(receiverId);
    const exchange: Exchange = {
      deliveryId,
      receiver,
      slots: slotsFor(bodyBytes),
      state: 'young',
      pool: receiver.health,
      cancelTimer: this.#parts.time.after(SLOW_MS, () => this.#becomeSlow(exchange)),
    };
    this.#slots[exchange.pool] += exchange.slots;
    this.#exchanges.set(deliveryId, exchange);
    receiver.exchanges += 1;
    receiver.unsettled.add(deliveryId);
    return exchange;
  }
  /** `isAcknowledged` is null where a stop cut the exchange short, which says nothing about the receiver. */
  finish(exchange: Exchange, isAcknowledged: boolean | null): void {
    const { receiver } = exchange;
    const isQuick = exchange.state === 'young';
    exchange.cancelTimer();
    this.#change(EXCHANGE, exchange, 'finished');
    receiver.exchanges -= 1;
    if (isAcknowledged === false) this.#setHealth(receiver, 'unhealthy');
    else if (isAcknowledged && isQuick) this.#setHealth(receiver, 'healthy');
    // One free slot is not worth a read of its queue.
    if (receiver.state === 'full' && receiver.exchanges <= this.#parts.limits.perReceiver / 2)
      this.#makeReady(receiver);
  }
  /** `settled`: the result is written, or a stop gave it up. `set aside`: this process does not send the delivery again. */
  end(exchange: Exchange, state: 'settled' | 'set aside'): void {
    if (state === 'settled') exchange.receiver.unsettled.delete(exchange.deliveryId);
    this.#change(EXCHANGE, exchange, state);
    this.#exchanges.delete(exchange.deliveryId);
    this.#leave(exchange);
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

  #of(receiverId: string): Receiver {
    let receiver = this.#known.get(receiverId);
    if (!receiver) {
      receiver = new Receiver(receiverId);
      this.#known.set(receiverId, receiver);
    }
    return receiver;
  }
  #forgetIfDone(receiver: Receiver): void {
    const { state, exchanges, unsettled } = receiver;
    if (state === 'idle' && exchanges === 0 && unsettled.size === 0 && !this.#timed.has(receiver))
      this.#known.delete(receiver.id);
  }
  /**
   * The only way to change a state. A forbidden transition is reported and made all the same: an exchange that is forgotten
   * half-way would hold its lease and its slot for ever. Tests fail at the report.
   */
  #change<State extends string>(allowed: Transitions<State>, thing: { state: State }, to: State): void {
    const from = thing.state;
    if (from !== to && !allowed[from].includes(to)) this.#parts.onForbidden(`${from} must not become ${to}`);
    thing.state = to;
  }
  #makeReady(receiver: Receiver): void {
    const hasRoom = receiver.exchanges < this.#parts.limits.perReceiver;
    this.#change(RECEIVER, receiver, hasRoom ? 'ready' : 'full');
    if (!hasRoom) return;
    this.#queueOf(receiver).add(receiver);
    if (this.#free(receiver.health) > 0) this.#parts.onReady(receiver.health);
  }
  #queueOf({ health, isUrgent }: Receiver): Set<Receiver> {
    return this.#ready[health][isUrgent ? 'urgent' : 'backlog'];
  }
  #free(pool: Health): number {
    return Math.max(0, this.#parts.limits[pool] - this.#slots[pool]);
  }
  #setHealth(receiver: Receiver, health: Health): void {
    if (receiver.health === health) return;
    const isReady = receiver.state === 'ready';
    if (isReady) this.#queueOf(receiver).delete(receiver);
    receiver.health = health;
    if (isReady) this.#makeReady(receiver);
  }
  #becomeSlow(exchange: Exchange): void {
    this.#change(EXCHANGE, exchange, 'slow');
    this.#setHealth(exchange.receiver, 'unhealthy');
    this.#leave(exchange);
    exchange.pool = 'unhealthy';
    this.#slots.unhealthy += exchange.slots;
  }
  #leave({ pool, slots }: Exchange): void {
    this.#slots[pool] -= slots;
    const { urgent, backlog } = this.#ready[pool];
    if (urgent.size + backlog.size > 0 && this.#free(pool) > 0) this.#parts.onReady(pool);
  }
}

const earlier = (one: Moment | null, other: Moment): Moment =>
  one ? { clockMs: Math.min(one.clockMs, other.clockMs), ownMs: Math.min(one.ownMs, other.ownMs) } : other;
