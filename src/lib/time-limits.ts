// The time limits of a process. They are nested: a queue gives up before the request that waits
// in it, and a statement before the queue. So one factor (TIME_LIMIT_FACTOR) multiplies all of them.

let factor = 1;

export const setTimeLimitFactor = (newFactor: number): void => {
  factor = newFactor;
};

export const timeLimit = (ms: number): number => ms * factor;
