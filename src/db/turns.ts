interface Limits {
  /** How many may run at the same time. */
  atOnce: number;
  /** How many may wait. */
  waiting: number;
  /** How long each of them may wait. */
  withinMs: number;
  /** What those get who are too many, or waited too long. */
  refusal: () => Error;
}

type Release = () => void;

export interface Turns {
  /** Waits for a turn, which lasts until it is given back. */
  take(): Promise<Release>;
  /** The same around a piece of work. */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** A queue, first come, first served, with a bound on its length and a deadline for everyone in it. */
export const turns = ({ atOnce, waiting: most, withinMs, refusal }: Limits): Turns => {
  let running = 0;
  const waiting = new Set<() => void>();

  const newTurn = (): Release => {
    let over = false;
    return () => {
      if (over) return;
      over = true;
      const [next] = waiting;
      if (next) next();
      else running -= 1;
    };
  };

  const take = (): Promise<Release> => {
    if (running < atOnce) {
      running += 1;
      return Promise.resolve(newTurn());
    }
    if (waiting.size >= most) return Promise.reject(refusal());
    return new Promise((resolve, reject) => {
      const start = () => {
        clearTimeout(deadline);
        waiting.delete(start);
        resolve(newTurn());
      };
      const deadline = setTimeout(() => {
        waiting.delete(start);
        reject(refusal());
      }, withinMs);
      waiting.add(start);
    });
  };

  return {
    take,
    async run(work) {
      const release = await take();
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
};
