// Within which time a process responds or gives up. These limits fit into each other: a queue gives up before the request that waits
// in it, a statement before the queue. So one factor (TIME_LIMIT_FACTOR) stretches all of them.

let factor = 1;

export const setTimeLimitFactor = (newFactor: number): void => {
  factor = newFactor;
};

export const timeLimit = (ms: number): number => ms * factor;
