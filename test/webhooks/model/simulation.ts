import { setImmediate as realTurn } from 'node:timers/promises';
import type { MonotonicClock } from '../../../src/webhooks/worker/monotonic-clock.ts';

// Simulated time for several processes. Nothing here waits for real time: the next timer is always due at once.

export const START_MS = 1_800_000_000_000;

interface Timer {
  /** By the own clock of its process. */
  at: number;
  /** Timers of the same instant run in the order in which they were set. */
  order: number;
  run(): void;
}

/** One process's clock and timers. While it sleeps both stand still; when it has died, no timer of it runs any more. */
export class ProcessTime implements MonotonicClock {
  readonly #simulation: Simulation;
  readonly timers = new Set<Timer>();
  #sleptMs = 0;
  #asleepSince: number | null = null;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }
  now(): number {
    return (this.#asleepSince ?? this.#simulation.nowMs) - this.#sleptMs;
  }
  after(ms: number, run: () => void): () => void {
    const timer = { at: this.now() + Math.max(0, ms), order: this.#simulation.nextOrder(), run };
    this.timers.add(timer);
    return () => void this.timers.delete(timer);
  }
  every(ms: number, run: () => void): () => void {
    let cancel = () => {};
    const again = (): void => {
      cancel = this.after(ms, () => {
        again();
        run();
      });
    };
    again();
    return () => cancel();
  }
  nextTurn(): Promise<void> {
    return new Promise((resolve) => void this.after(0, resolve));
  }
  sleep(): void {
    this.#asleepSince = this.#simulation.nowMs;
  }
  wakeUp(): void {
    this.#sleptMs += this.#simulation.nowMs - (this.#asleepSince ?? this.#simulation.nowMs);
    this.#asleepSince = null;
  }
  /** The next timer, and when that is by the true clock. */
  next(): { timer: Timer; atMs: number } | null {
    if (this.#asleepSince !== null) return null;
    let first: Timer | null = null;
    for (const timer of this.timers)
      if (!first || timer.at < first.at || (timer.at === first.at && timer.order < first.order))
        first = timer;
    return first && { timer: first, atMs: first.at + this.#sleptMs };
  }
}

/** All that follows without time passing has happened after this: a batch (lib/batch.ts) begins in a turn of its own. */
const settled = async (): Promise<void> => {
  await realTurn();
  await realTurn();
};

export class Simulation {
  nowMs = START_MS;
  readonly processes = new Set<ProcessTime>();
  #order = 0;
  readonly #onTimePassed: (ms: number) => void;

  constructor(onTimePassed: (ms: number) => void) {
    this.#onTimePassed = onTimePassed;
  }
  nextOrder(): number {
    this.#order += 1;
    return this.#order;
  }
  addProcess(): ProcessTime {
    const time = new ProcessTime(this);
    this.processes.add(time);
    return time;
  }
  /** Lets all run that is due until so much time has passed, or until `isOver`. */
  async advance(ms: number, isOver: () => boolean = () => false): Promise<void> {
    const untilMs = this.nowMs + ms;
    await settled();
    while (!isOver()) {
      const next = this.#next();
      if (!next || next.atMs > untilMs) return this.#moveTo(untilMs);
      this.#moveTo(next.atMs);
      next.process.timers.delete(next.timer);
      next.timer.run();
      await settled();
    }
  }

  #next() {
    let first: { process: ProcessTime; timer: Timer; atMs: number } | null = null;
    for (const process of this.processes) {
      const next = process.next();
      if (!next) continue;
      const isEarlier =
        !first ||
        next.atMs < first.atMs ||
        (next.atMs === first.atMs && next.timer.order < first.timer.order);
      if (isEarlier) first = { process, ...next };
    }
    return first;
  }
  #moveTo(ms: number): void {
    const passed = Math.max(0, ms - this.nowMs);
    // First the time, then the check of what has become too late by now.
    this.nowMs += passed;
    if (passed > 0) this.#onTimePassed(passed);
  }
}
