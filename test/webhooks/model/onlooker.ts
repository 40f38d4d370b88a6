import type { Row } from '../../../src/db/schema.ts';
import {
  EXCHANGE_TIMEOUT_MS,
  GIVE_UP_AFTER_MS,
  LEASE_MS,
  POOL_LIMITS,
} from '../../../src/webhooks/policy.ts';
import { type Attempt, DROP_REASONS } from '../../../src/webhooks/queue.ts';
import type { Delivery, Exchange, World } from './world.ts';

// The model's side: what each delivery must look like after what receivers saw, and what must hold at every moment.

/** The specification's own numbers, not the code's. */
const RETRY_DELAYS_MS = [0, 1_000, 4_000, 16_000];
const MAX_ATTEMPTS = 4;
/** From the moment a delivery is due and could be sent: 250 ms, and the time of the statements of two rounds. */
const TIGHT_MS = 500;
/** After a process died, slept or stopped: its leases run out, a look finds what waits, and a second of not asking again. */
const TAKEOVER_MS = LEASE_MS + 5_000 + 1_000;

const COLUMNS = ['id', 'status', 'attempts', 'attempt_log', 'due_at', 'created_at', 'reason'] as const;
type Stored = Pick<Row<'webhook_deliveries'>, (typeof COLUMNS)[number]>;

interface Record {
  state: DeliveryState;
  counted: Exchange[];
  dueAt: number;
  /** When it last was in flight, or its receiver had no room. */
  blockedAt: number;
  /** The same, or the process had little room. */
  crowdedAt: number;
}

/** In the database, by status and number of attempts; only the process that sends knows that a delivery is being sent. */
type DeliveryState =
  | 'waiting for its first attempt'
  | 'being sent'
  | 'waiting for a retry'
  | 'delivered'
  | 'dropped';
const DELIVERY: Readonly<{ [State in DeliveryState]: readonly DeliveryState[] }> = {
  'waiting for its first attempt': ['being sent', 'dropped'],
  // Back to where it waited: a stop or a crash cut the attempt short, so it does not count.
  'being sent': ['delivered', 'waiting for a retry', 'dropped', 'waiting for its first attempt'],
  'waiting for a retry': ['being sent', 'dropped'],
  delivered: [],
  dropped: [],
};

class Broken extends Error {}
const holds = (condition: boolean, message: () => string): void => {
  if (!condition) throw new Broken(message());
};

const stateOf = ({ status, attempts }: Stored): DeliveryState => {
  if (status === 'DELIVERED') return 'delivered';
  if (status === 'DROPPED') return 'dropped';
  return attempts === 0 ? 'waiting for its first attempt' : 'waiting for a retry';
};

export class Onlooker {
  readonly records = new Map<string, Record>();
  world!: World;
  /** What was seen to be wrong while the dispatcher's own code was running: thrown later, out of its reach. */
  readonly #broken: Error[] = [];
  #firstRecent = 0;

  watch(world: World): void {
    this.world = world;
    world.onStart = (exchange) => this.#note(() => this.#checkStart(exchange));
    world.onSettled = () => this.readRows().catch((error) => void this.#broken.push(error));
  }
  timePassed(): void {
    this.#note(() => this.#checkLateness());
  }
  get allEnded(): boolean {
    return [...this.records.values()].every(({ state }) => state === 'delivered' || state === 'dropped');
  }
  get isBroken(): boolean {
    return this.#broken.length > 0;
  }

  /** The comparison after each command. */
  async compare(): Promise<void> {
    if (this.#broken[0]) throw this.#broken[0];
    await this.readRows();
    holds(this.world.errors.length === 0, () => this.world.errors.join('; '));
    holds(this.records.size === this.world.deliveries.size, () => 'a delivery got lost');
  }

  async readRows(): Promise<void> {
    const { db } = this.world.ground.ctx;
    const rows = await db.selectFrom('webhook_deliveries').select(COLUMNS).execute();
    for (const row of rows) this.#compareRow(row);
  }

  #note(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.#broken.push(error as Error);
    }
  }

  #recordOf({ id, created_at }: { id: string; created_at: number }): Record {
    const known = this.records.get(id);
    if (known) return known;
    const at = { dueAt: created_at, blockedAt: created_at, crowdedAt: created_at };
    const fresh: Record = { state: 'waiting for its first attempt', counted: [], ...at };
    this.records.set(id, fresh);
    return fresh;
  }

  #compareRow(row: Stored): void {
    const record = this.#recordOf(row);
    const next = stateOf(row);
    if (next === record.state && row.attempts === record.counted.length) return;
    const log = JSON.parse(row.attempt_log) as Attempt[];
    const name = `delivery ${row.id.slice(-4)} (${record.state} → ${next})`;
    const isTooOld = row.reason === DROP_REASONS.tooOld;
    if (isTooOld) {
      holds(this.world.nowMs - row.created_at > GIVE_UP_AFTER_MS, () => `${name}: dropped before 24 h`);
      holds(DELIVERY[record.state].includes('dropped'), () => `${name}: not allowed`);
    } else {
      holds(
        DELIVERY[record.state].includes('being sent') && DELIVERY['being sent'].includes(next),
        () => `${name}: not allowed`,
      );
      holds(log.length === record.counted.length + 1, () => `${name}: ${log.length} attempts counted`);
      holds(row.attempts === log.length, () => `${name}: ${row.attempts} attempts, ${log.length} in the log`);
      this.#count(row, record, log.at(-1) as Attempt, name);
    }
    record.state = next;
  }

  /** One more attempt was written down: it must be one that a receiver saw, and the row must say what follows from it. */
  #count(row: Stored, record: Record, last: Attempt, name: string): void {
    const number = record.counted.length + 1;
    const exchange = this.world.exchanges.find(
      (each) =>
        each.deliveryId === row.id &&
        each.attempt === number &&
        each.startedAt === last.at &&
        each.endedAt !== null &&
        !each.abandoned,
    );
    if (!exchange) throw new Broken(`${name}: attempt ${number} is one that no receiver saw`);
    record.counted.push(exchange);
    const expected: DeliveryState = exchange.acknowledged
      ? 'delivered'
      : number === MAX_ATTEMPTS
        ? 'dropped'
        : 'waiting for a retry';
    holds(stateOf(row) === expected, () => `${name}: must be ${expected}`);
    if (expected !== 'waiting for a retry') return;
    record.dueAt = (exchange.endedAt as number) + (RETRY_DELAYS_MS[number] as number);
    holds(row.due_at === record.dueAt, () => `${name}: due at ${row.due_at}, not ${record.dueAt}`);
  }

  #underWay(matches: (exchange: Exchange) => boolean): Exchange[] {
    return this.world.exchanges.filter(
      (each) => each.endedAt === null && each.process.state !== 'gone' && matches(each),
    );
  }

  #checkStart(started: Exchange): void {
    const { process, receiver, deliveryId, attempt } = started;
    const name = `${process.name}, receiver ${receiver}, attempt ${attempt} of ${deliveryId.slice(-4)}`;
    const { limits } = this.world;
    const mine = this.#underWay((each) => each.process === process);
    const toReceiver = mine.filter((each) => each.receiver === receiver).length;
    holds(toReceiver <= limits.perReceiver, () => `${name}: ${toReceiver} at once to one receiver`);
    const { receivers } = process.dispatcher;
    const [healthy, unhealthy] = [receivers.slotsTaken('healthy'), receivers.slotsTaken('unhealthy')];
    // Exchanges that turn slow may exceed the limit of the other pool.
    holds(healthy <= limits.healthy, () => `${name}: ${healthy} at once in the healthy pool`);
    holds(healthy + unhealthy >= mine.length, () => `${name}: more exchanges than counted`);
    const record = this.records.get(deliveryId);
    const before = record?.counted[attempt - 2];
    holds(attempt === 1 || before !== undefined, () => `${name}: the attempt before was not counted`);
    const earliest = (before?.endedAt ?? 0) + (RETRY_DELAYS_MS[attempt - 1] ?? Number.POSITIVE_INFINITY);
    holds(started.startedAt >= earliest, () => `${name}: ${earliest - started.startedAt} ms too early`);
    this.#checkAlone(started, name);
  }

  /**
   * At most one process sends to a receiver at a time, unless a process slept through its lease. Such a process may even, when it
   * returns, run the statement that it was about to run, with the time of then: it takes a lease that another one holds, already
   * run out, and a third one takes it next. So this is not checked while any process sleeps or has just returned.
   */
  #checkAlone({ process, receiver }: Exchange, name: string): void {
    const { processes, nowMs } = this.world;
    const isSettled = processes.every(
      ({ returnedAt, state }) =>
        state === 'gone' || (state !== 'asleep' && nowMs - returnedAt > EXCHANGE_TIMEOUT_MS + TIGHT_MS),
    );
    const other = this.#underWay((each) => each.receiver === receiver && each.process !== process)[0];
    holds(!isSettled || !other, () => `${name}: ${other?.process.name} sends to it too`);
  }

  /** No delivery waits longer than the bounds, while a process is awake. */
  #checkLateness(): void {
    const { world } = this;
    if (world.awake.length === 0) return;
    const calmAt = world.disturbedAt + TAKEOVER_MS;
    const recent = this.#recent();
    for (const [id, record] of this.records) {
      if (record.state === 'delivered' || record.state === 'dropped') continue;
      const { receiver, createdAt } = world.deliveries.get(id) as Delivery;
      // Dropped unseen by a statement of its own; the next comparison finds it.
      if (world.nowMs - createdAt > GIVE_UP_AFTER_MS) continue;
      this.#noteRoom(id, receiver, record, recent);
      const late = (since: number, boundMs: number, why: string) =>
        holds(
          world.nowMs <= Math.max(since, record.dueAt, calmAt) + boundMs,
          () => `delivery ${id.slice(-4)} to receiver ${receiver} (${record.state}) is late: ${why}`,
        );
      late(record.crowdedAt, TIGHT_MS, 'there was room');
      if (!world.everFaulty.has(receiver))
        late(record.blockedAt, TIGHT_MS + EXCHANGE_TIMEOUT_MS, 'its receiver is healthy');
    }
  }

  /** Exchanges of processes that are awake: those that are open, or were a moment ago. */
  #recent(): Exchange[] {
    const { exchanges, nowMs } = this.world;
    // Older ones are looked at no more: this runs at every step of time.
    for (let exchange = exchanges[this.#firstRecent]; exchange; exchange = exchanges[this.#firstRecent]) {
      const { endedAt, process } = exchange;
      const isOver = endedAt === null ? process.state === 'gone' : nowMs - endedAt >= TIGHT_MS;
      if (!isOver) break;
      this.#firstRecent += 1;
    }
    return exchanges
      .slice(this.#firstRecent)
      .filter(
        ({ process, endedAt }) =>
          (endedAt === null || nowMs - endedAt < TIGHT_MS) &&
          (process.state === 'awake' || process.state === 'stopping'),
      );
  }

  #noteRoom(id: string, receiver: number, record: Record, recent: Exchange[]): void {
    const { limits, nowMs } = this.world;
    const toReceiver = recent.filter((each) => each.receiver === receiver);
    const isInFlight = toReceiver.some((each) => each.deliveryId === id && !record.counted.includes(each));
    if (isInFlight || toReceiver.length > limits.perReceiver / 2) record.blockedAt = nowMs;
    const isCrowded =
      limits !== POOL_LIMITS && recent.length > Math.min(limits.healthy, limits.unhealthy) / 2;
    if (isCrowded || record.blockedAt === nowMs) record.crowdedAt = nowMs;
  }
}
