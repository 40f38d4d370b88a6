import { expect } from 'vitest';
import { FULL } from './faults.ts';
import { measureSlowness, scaled } from './machine.ts';

/**
 * Expects a time that the product promises on a quiet machine, where `npm run faults` judges it. In the suites the machine is taken
 * into account: as it was found when the run began or, where that is not enough, as it is now. The other processes of the run slow
 * the caller, the service and the database one after the other, so twice what a single piece of work shows is allowed.
 */
export const expectWithin = (ms: number, promisedMs: number): void => {
  if (!FULL && ms < scaled(promisedMs)) return;
  expect(ms).toBeLessThan(FULL ? promisedMs : 2 * measureSlowness() * promisedMs);
};
