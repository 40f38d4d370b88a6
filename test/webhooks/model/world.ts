import { pino } from 'pino';
import type { Context } from '../../../src/context.ts';
import { enqueueTest } from '../../../src/webhooks/outbox.ts';
import { EXCHANGE_TIMEOUT_MS, type Limits, SLOW_MS } from '../../../src/webhooks/policy.ts';
import type { Settler } from '../../../src/webhooks/worker/carrier.ts';
import { type Dispatcher, startDispatcher } from '../../../src/webhooks/worker/dispatcher.ts';
import { createPools, type Pools } from '../../../src/webhooks/worker/pools.ts';
import type { Sender } from '../../../src/webhooks/worker/send.ts';
import { settle } from '../../../src/webhooks/worker/settle.ts';
import { pause } from '../../../src/webhooks/worker/time.ts';
import { aroundQueries } from './around-queries.ts';
import { numbersFrom, type ProcessTime, Simulation, START_MS } from './simulation.ts';

// Receivers, processes and the database, as the dispatcher sees them; and what an onlooker notes down of it all.

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
  pools: Pools;
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

const QUIET = pino({ level: 'silent' });
const MOST_LATENCY_MS = 20;

export class World {
  readonly simulation: Simulation;
  readonly behaviours: Behaviour[];
  /** Receivers that did anything but acknowledge, at some time. */
  readonly everFaulty = new Set<number>();
  readonly processes: Process[] = [];
  readonly exchanges: Exchange[] = [];
  readonly deliveries = new Map<string, Delivery>();
  /** Forbidden moves, and other faults that the dispatcher itself noticed. */
  readonly faults: string[] = [];
  readonly history: string[] = [];
  readonly ground: Ground;
  readonly limits: Limits;
  onStart: (exchange: Exchange) => void = () => {};
  onSettled: () => Promise<void> = async () => {};
  /** When a process last died, slept, returned or stopped. */
  disturbedAt = 0;
  readonly #random: () => number;

  constructor(ground: Ground, limits: Limits, seed: number, onTimePassed: (ms: number) => void) {
    this.ground = ground;
    this.limits = limits;
    this.#random = numbersFrom(seed);
    this.behaviours = ground.receivers.map(() => 'acknowledges');
    this.simulation = new Simulation(onTimePassed);
  }

  /** What happened, for whoever has to understand a failing run. */
  tell(what: string): void {
    this.history.push(`${((this.nowMs - START_MS) / 1000).toFixed(3)} s  ${what}`);
  }
  get nowMs(): number {
    return this.simulation.nowMs;
  }
  #upTo(most: number): number {
    return Math.floor(this.#random() * (most + 1));
  }

  async enqueue(receiver: number): Promise<void> {
    const clientId = this.ground.receivers[receiver]?.id as string;
    const { id } = await enqueueTest(this.ground.ctx.withoutFsync, clientId, this.nowMs);
    this.deliveries.set(id, { id, receiver, createdAt: this.nowMs });
    this.wake(clientId);
  }

  /** A wake-up call reaches every process a little later; those that sleep when they return. */
  wake(clientId: string | null): void {
    for (const process of this.processes.filter(({ state }) => state !== 'gone'))
      process.time.after(this.#upTo(MOST_LATENCY_MS), () => process.listener?.(clientId));
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
    const pools = createPools(() => 0, this.limits);
    const process: Process = {
      name: `process ${this.processes.length + 1}`,
      state: 'awake',
      returnedAt: 0,
      time,
      pools,
      listener: null,
      dispatcher: { stop: async () => {} },
    };
    this.processes.push(process);
    const ctx = this.#contextOf(process);
    const overrides = {
      time,
      pools,
      settler: this.#settlerOf(process, ctx),
      onForbiddenMove: (message: string) => void this.faults.push(`${process.name}: ${message}`),
    };
    process.dispatcher = await startDispatcher(ctx, this.#senderOf(process), overrides);
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
      (error) => this.faults.push(`a stop failed: ${error}`),
    );
  }
  #remove(process: Process): void {
    process.state = 'gone';
    this.simulation.processes.delete(process.time);
  }

  /** The real statements on the real database, with a little time before and after each. */
  #contextOf(process: Process): Context {
    const { ctx } = this.ground;
    const latency = () => pause(process.time, this.#upTo(MOST_LATENCY_MS));
    return {
      ...ctx,
      log: QUIET,
      clock: { now: () => Math.floor(this.nowMs) },
      withoutFsync: aroundQueries(ctx.withoutFsync, { before: latency, after: latency }),
      wake: (clientId) => this.wake(clientId),
      onWake: async (listener) => {
        process.listener = listener;
        return async () => {
          process.listener = null;
        };
      },
    };
  }

  #settlerOf({ time }: Process, ctx: Context): Settler {
    let giveUp = (): void => {};
    const givenUp = new Promise<false>((resolve) => {
      giveUp = () => resolve(false);
    });
    const settling = aroundQueries(ctx.withoutFsync, { after: async () => this.onSettled() });
    const write = async (settlement: Parameters<Settler['add']>[0]): Promise<true> => {
      await pause(time, 0);
      await settle({ ...ctx, withoutFsync: settling }, [settlement]);
      return true;
    };
    return { add: (settlement) => Promise.race([write(settlement), givenUp]), giveUp: () => giveUp() };
  }

  #senderOf(process: Process): Sender {
    const underWay = new Set<() => void>();
    return {
      send: ({ url, id, attempt }) =>
        new Promise((resolve) => {
          const receiver = this.ground.receivers.findIndex((each) => each.url === url);
          const about = { deliveryId: id, receiver, process, attempt, startedAt: this.nowMs };
          const exchange: Exchange = { ...about, endedAt: null, acknowledged: false, abandoned: false };
          this.exchanges.push(exchange);
          const name = `${process.name} → receiver ${receiver}, ${id.slice(-4)}, attempt ${attempt}`;
          this.tell(name);
          this.onStart(exchange);
          const { afterMs, statusCode } = this.#answerOf(this.behaviours[receiver] as Behaviour);
          const end = (outcome: { statusCode: number | null; error: string | null } | null): void => {
            cancel();
            underWay.delete(abandon);
            exchange.endedAt = this.nowMs;
            exchange.acknowledged = outcome?.statusCode === 200;
            exchange.abandoned = outcome === null;
            this.tell(`${name}: ${outcome ? (outcome.statusCode ?? outcome.error) : 'broken off'}`);
            resolve(outcome);
          };
          const abandon = () => end(null);
          const error = statusCode === null ? 'no answer' : null;
          const cancel = process.time.after(afterMs, () => end({ statusCode, error }));
          underWay.add(abandon);
        }),
      close: async () => {
        for (const abandon of underWay) abandon();
      },
    };
  }

  #answerOf(behaviour: Behaviour): { afterMs: number; statusCode: number | null } {
    // Most answer at once; some take longer than an exchange stays fresh.
    const afterMs = 1 + this.#upTo([10, 10, 10, 200][this.#upTo(3)] as number);
    if (behaviour === 'hangs') return { afterMs: EXCHANGE_TIMEOUT_MS, statusCode: null };
    if (behaviour === 'refuses') return { afterMs: 1, statusCode: null };
    if (behaviour === 'dawdles') return { afterMs: SLOW_MS + this.#upTo(3_000), statusCode: 200 };
    return { afterMs, statusCode: behaviour === 'fails' ? 500 : 200 };
  }
}
