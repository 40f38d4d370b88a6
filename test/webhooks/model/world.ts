import { type CompiledQuery, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import { pino } from 'pino';
import type { Context } from '../../../src/api/context.ts';
import type { Db } from '../../../src/db/types.ts';
import { enqueueTest } from '../../../src/webhooks/outbox.ts';
import { EXCHANGE_TIMEOUT_MS, type PoolLimits, SLOW_AFTER_MS } from '../../../src/webhooks/policy.ts';
import { Dispatcher } from '../../../src/webhooks/worker/dispatcher.ts';
import { pause } from '../../../src/webhooks/worker/monotonic-clock.ts';
import type { Sender } from '../../../src/webhooks/worker/send.ts';
import { type Settler, settle } from '../../../src/webhooks/worker/settle.ts';
import { type Random, randomOf } from '../../support/random.ts';
import { type ProcessTime, Simulation, START_MS } from './simulation.ts';

// Receivers, processes and the database, as the dispatcher sees them; and what an onlooker notes down of it all.

const MOST_LATENCY_MS = 20;

export class World {
  readonly simulation: Simulation;
  readonly behaviours: Behaviour[];
  /** Receivers that did anything but acknowledge, at some time. */
  readonly everFaulty = new Set<number>();
  readonly processes: Process[] = [];
  readonly exchanges: Exchange[] = [];
  readonly deliveries = new Map<string, Delivery>();
  /** Forbidden moves, and other errors that the dispatcher itself noticed. */
  readonly errors: string[] = [];
  readonly history: string[] = [];
  readonly ground: Ground;
  readonly limits: PoolLimits;
  onStart: (exchange: Exchange) => void = () => {};
  onSettled: () => Promise<void> = async () => {};
  /** How much longer than the latency a statement takes. */
  delayOf: (statement: string) => number = () => 0;
  /** When a process last died, slept, returned or stopped. */
  disturbedAt = 0;
  readonly #random: Random;

  constructor(ground: Ground, limits: PoolLimits, seed: number, onTimePassed: (ms: number) => void) {
    this.ground = ground;
    this.limits = limits;
    this.#random = randomOf(seed);
    this.behaviours = ground.receivers.map(() => 'acknowledges');
    this.simulation = new Simulation(onTimePassed);
  }

  /** What happened, to be printed with a failing run. */
  tell(what: string): void {
    this.history.push(`${((this.nowMs - START_MS) / 1000).toFixed(3)} s  ${what}`);
  }
  get nowMs(): number {
    return this.simulation.nowMs;
  }
  /** A whole number from 0 on, the same for the same seed. */
  upTo(most: number): number {
    return this.#random.below(most + 1);
  }

  async enqueue(receiver: number): Promise<void> {
    const clientId = this.ground.receivers[receiver]?.id as string;
    const { id } = await enqueueTest(this.ground.ctx.webhooks, clientId, this.nowMs);
    this.deliveries.set(id, { id, receiver, createdAt: this.nowMs });
    this.wake(clientId);
  }

  /** A wake-up call reaches every process a little later; those that sleep when they return. */
  wake(clientId: string | null): void {
    for (const process of this.processes.filter(({ state }) => state !== 'gone'))
      process.time.after(this.upTo(MOST_LATENCY_MS), () => process.listener?.(clientId));
  }

  get awake(): Process[] {
    return this.processes.filter(({ state }) => state === 'awake');
  }

  behave(receiver: number, behaviour: Behaviour): void {
    this.behaviours[receiver] = behaviour;
    if (behaviour !== 'acknowledges') this.everFaulty.add(receiver);
  }

  async start(): Promise<void> {
    if (this.awake.length === 0) this.disturbedAt = this.nowMs;
    const time = this.simulation.addProcess();
    const process: Process = {
      name: `process ${this.processes.length + 1}`,
      state: 'awake',
      returnedAt: 0,
      time,
      listener: null,
    } as Omit<Process, 'dispatcher'> as Process;
    this.processes.push(process);
    const ctx = this.#contextOf(process);
    const overrides = {
      time,
      limits: this.limits,
      settler: createSimulatedSettler(this, process, ctx),
    };
    process.dispatcher = new Dispatcher(ctx, createSimulatedSender(this, process), overrides);
  }

  die(process: Process): void {
    this.disturbedAt = this.nowMs;
    this.#remove(process);
  }
  sleep(process: Process): void {
    this.disturbedAt = this.nowMs;
    process.state = 'asleep';
    process.time.sleep();
  }
  return(process: Process): void {
    this.disturbedAt = this.nowMs;
    process.returnedAt = this.nowMs;
    process.state = 'awake';
    process.time.wakeUp();
  }
  stop(process: Process): void {
    this.disturbedAt = this.nowMs;
    process.state = 'stopping';
    void process.dispatcher.stop().then(
      () => {
        this.disturbedAt = this.nowMs;
        this.#remove(process);
      },
      (error) => this.errors.push(`a stop failed: ${error}`),
    );
  }
  #remove(process: Process): void {
    process.state = 'gone';
    this.simulation.processes.delete(process.time);
  }

  /** The real statements on the real database, with a little time before and after each. */
  #contextOf(process: Process): Context {
    const { ctx } = this.ground;
    const latency = () => pause(process.time, this.upTo(MOST_LATENCY_MS));
    const slowly = ({ sql }: CompiledQuery) =>
      pause(process.time, this.upTo(MOST_LATENCY_MS) + this.delayOf(sql));
    return {
      ...ctx,
      log: pino({ level: 'error' }, { write: (line) => void this.errors.push(`${process.name}: ${line}`) }),
      clock: { now: () => Math.floor(this.nowMs) },
      webhooks: aroundQueries(ctx.webhooks, { before: slowly, after: latency }),
      wake: (_topic, clientId) => this.wake(clientId),
      onWake: (_topic, listener) => {
        process.listener = listener;
        return () => {
          process.listener = null;
        };
      },
    };
  }
}

// What there is in the simulated world.

export const BEHAVIOURS = ['acknowledges', 'dawdles', 'fails', 'hangs', 'refuses'] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

/** One request that a receiver saw. */
export interface Exchange {
  deliveryId: string;
  receiver: number;
  process: Process;
  /** 1 to 4. */
  attempt: number;
  startedAt: number;
  /** When its process knew the outcome; null before that. */
  endedAt: number | null;
  acknowledged: boolean;
  /** A stop broke it off. */
  abandoned: boolean;
}

export interface Process {
  name: string;
  state: 'awake' | 'asleep' | 'stopping' | 'gone';
  /** When it last returned from sleep. */
  returnedAt: number;
  time: ProcessTime;
  dispatcher: Dispatcher;
  listener: ((clientId: string | null) => void) | null;
}

export interface Delivery {
  id: string;
  receiver: number;
  createdAt: number;
}

/** The database and its receivers, made once for all runs. */
export interface Ground {
  ctx: Context;
  receivers: { id: string; url: string }[];
}

type Before = (query: CompiledQuery) => Promise<void>;

/** The same database, with something that happens before and after each statement, also after one that fails. */
const aroundQueries = (
  db: Db,
  { before = async () => {}, after }: { before?: Before; after: () => Promise<void> },
): Db =>
  new Kysely({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createIntrospector: (on) => new SqliteIntrospector(on),
      createQueryCompiler: () => new SqliteQueryCompiler(),
      createDriver: () => ({
        async init() {},
        async acquireConnection() {
          return {
            async executeQuery<Row>(query: CompiledQuery) {
              await before(query);
              try {
                return await db.executeQuery(query as CompiledQuery<Row>);
              } finally {
                await after();
              }
            },
            async *streamQuery() {},
          };
        },
        async beginTransaction() {},
        async commitTransaction() {},
        async rollbackTransaction() {},
        async releaseConnection() {},
        async destroy() {},
      }),
    },
  }) as Db;

// What stands in the dispatcher for the network, and for the batching of results.

/** Writes each result at once, by the real statement. */
const createSimulatedSettler = (
  world: World,
  { time }: Process,
  ctx: Context,
): Pick<Settler, 'add' | 'giveUp'> => {
  let giveUp = (): void => {};
  const givenUp = new Promise<false>((resolve) => {
    giveUp = () => resolve(false);
  });
  const settling = aroundQueries(ctx.webhooks, { after: async () => world.onSettled() });
  const write = async (settlement: Parameters<Settler['add']>[0]): Promise<true> => {
    await pause(time, 0);
    await settle({ ...ctx, webhooks: settling }, [settlement]);
    return true;
  };
  return { add: (settlement) => Promise.race([write(settlement), givenUp]), giveUp: () => giveUp() };
};

/** Receivers response as they behave when the request comes. */
const createSimulatedSender = (world: World, process: Process): Sender => {
  const underWay = new Set<() => void>();
  return {
    send: ({ url, id, attempt }) =>
      new Promise((resolve) => {
        const receiver = world.ground.receivers.findIndex((each) => each.url === url);
        const about = { deliveryId: id, receiver, process, attempt, startedAt: world.nowMs };
        const exchange: Exchange = { ...about, endedAt: null, acknowledged: false, abandoned: false };
        world.exchanges.push(exchange);
        const name = `${process.name} → receiver ${receiver}, ${id.slice(-4)}, attempt ${attempt}`;
        world.tell(name);
        world.onStart(exchange);
        const { afterMs, statusCode } = responseOf(world, world.behaviours[receiver] as Behaviour);
        const end = (outcome: { statusCode: number | null; error: string | null } | null): void => {
          cancel();
          underWay.delete(abandon);
          exchange.endedAt = world.nowMs;
          exchange.acknowledged = outcome?.statusCode === 200;
          exchange.abandoned = outcome === null;
          world.tell(`${name}: ${outcome ? (outcome.statusCode ?? outcome.error) : 'aborted'}`);
          resolve(outcome);
        };
        const abandon = () => end(null);
        const error = statusCode === null ? 'no response' : null;
        const cancel = process.time.after(afterMs, () => end({ statusCode, error }));
        underWay.add(abandon);
      }),
    close: async () => {
      for (const abandon of underWay) abandon();
    },
  };
};

const responseOf = (world: World, behaviour: Behaviour): { afterMs: number; statusCode: number | null } => {
  // Most answer at once.
  const afterMs = 1 + world.upTo([10, 10, 10, 200][world.upTo(3)] as number);
  if (behaviour === 'hangs') return { afterMs: EXCHANGE_TIMEOUT_MS, statusCode: null };
  if (behaviour === 'refuses') return { afterMs: 1, statusCode: null };
  if (behaviour === 'dawdles') return { afterMs: SLOW_AFTER_MS + world.upTo(3_000), statusCode: 200 };
  return { afterMs, statusCode: behaviour === 'fails' ? 500 : 200 };
};
