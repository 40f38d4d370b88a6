import type { Context } from '../context.ts';
import { ServiceError } from '../errors.ts';

/** However often it is asked, the database is asked once in this time. */
const KNOWN_FOR_MS = 1_000;

/** Refuses unless the database answers on every kind of connection and takes writes. */
export const readinessCheck = ({ checkReady }: Pick<Context, 'checkReady'>): (() => Promise<void>) => {
  let checking: Promise<void> | null = null;
  let checkedAt = Number.NEGATIVE_INFINITY;

  return async () => {
    if (checking === null || performance.now() - checkedAt > KNOWN_FOR_MS) {
      checkedAt = performance.now();
      checking = checkReady();
    }
    await checking.catch((error) => {
      throw new ServiceError('UNAVAILABLE', {
        message: 'The database does not answer, or takes no writes.',
        cause: error,
      });
    });
  };
};
