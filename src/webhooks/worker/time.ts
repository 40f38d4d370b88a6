/** This process's own time: a clock that only runs forward, and timers. A test may put a simulated one in its place. */
export interface OwnTime {
  now(): number;
  /** Returns how to cancel it. */
  after(ms: number, run: () => void): () => void;
  every(ms: number, run: () => void): () => void;
  /** Resolves in the next turn of the event loop: what happens in one turn is taken together. */
  nextTurn(): Promise<void>;
}

export const systemTime: OwnTime = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  every(ms, run) {
    const timer = setInterval(run, ms);
    return () => clearInterval(timer);
  },
  nextTurn: () => new Promise((resolve) => setImmediate(resolve)),
};

export const pause = (time: OwnTime, ms: number): Promise<void> =>
  new Promise((resolve) => void time.after(ms, resolve));
