/** How much is done for one figure. */
export interface Effort {
  rounds: number;
  warmUpSeconds: number;
  roundSeconds: number;
  /** RMAs in the shops whose pages are timed: the smallest, the one that lists are read from, the largest. */
  small: number;
  medium: number;
  large: number;
  /** Deliveries in the backlog that is drained. */
  backlog: number;
  /** Creations after which memory is read. */
  creations: number;
  /** How long events trickle at 50 a second. */
  trickleSeconds: number;
  /** Shops with a receiver each, where very many are measured, and how long they are watched doing nothing. */
  receivers: number;
  idleSeconds: number;
}

export const FULL: Effort = {
  rounds: 3,
  // Until V8 has compiled what runs often: after 10 s of load a creation takes 40 % less of the thread than at first.
  warmUpSeconds: 4,
  roundSeconds: 2,
  small: 10_000,
  medium: 100_000,
  large: 1_000_000,
  backlog: 20_000,
  creations: 60_000,
  trickleSeconds: 6,
  receivers: 20_000,
  idleSeconds: 30,
};

/** To see that all is well, not to quote from. */
export const QUICK: Effort = {
  rounds: 1,
  warmUpSeconds: 0,
  roundSeconds: 1,
  small: 10_000,
  medium: 10_000,
  large: 20_000,
  backlog: 2_000,
  creations: 2_000,
  trickleSeconds: 2,
  receivers: 500,
  idleSeconds: 5,
};
