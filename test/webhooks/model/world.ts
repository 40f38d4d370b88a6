import { pino } from 'pino';
import type { Context } from '../../../src/service/context.ts';
import { enqueueTest } from '../../../src/webhooks/outbox.ts';
import type { Limits } from '../../../src/webhooks/policy.ts';
import { Dispatcher } from '../../../src/webhooks/worker/dispatcher.ts';
import { pause } from '../../../src/webhooks/worker/time.ts';
import { aroundQueries } from './around-queries.ts';
import { createSimulatedSender, createSimulatedSettler } from './simulated-parts.ts';
import { numbersFrom, Simulation, START_MS } from './simulation.ts';
import type { Behaviour, Delivery, Exchange, Ground, Process } from './things.ts';

// Receivers, processes and the database, as the dispatcher sees them; and what an onlooker notes down of it all.

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
  /** Forbidden moves, and other errors that the dispatcher itself noticed. */
  readonly errors: string[] = [];
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
  /** A whole number from 0 on, the same for the same seed. */
  upTo(most: number): number {
    return Math.floor(this.#random() * (most + 1));
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
      onForbidden: (message: string) => void this.errors.push(`${process.name}: ${message}`),
    };
    process.dispatcher = await Dispatcher.start(ctx, createSimulatedSender(this, process), overrides);
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
    return {
      ...ctx,
      log: QUIET,
      clock: { now: () => Math.floor(this.nowMs) },
      webhooks: aroundQueries(ctx.webhooks, { before: latency, after: latency }),
      wake: (_topic, clientId) => this.wake(clientId),
      onWake: async (_topic, listener) => {
        process.listener = listener;
        return async () => {
          process.listener = null;
        };
      },
    };
  }
}
