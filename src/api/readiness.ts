import type { Context } from '../context.ts';
import { ServiceError } from '../errors.ts';

/** Requests within this time share one check of the database. */
const SHARED_FOR_MS = 100;

/** Throws unless the database answers on every kind of connection and takes writes. */
export const readinessCheck = ({ checkReady }: Pick<Context, 'checkReady'>): (() => Promise<void>) => {
  let checking: Promise<void> | null = null;
  let checkedAt = Number.NEGATIVE_INFINITY;

  return async () => {
    if (checking === null || performance.now() - checkedAt > SHARED_FOR_MS) {
      checkedAt = performance.now();
      checking = checkReady();
    }
    await checking.catch((error) => {
      throw new ServiceError('SERVICE_UNAVAILABLE', {
        message: 'The database does not answer, or takes no writes.',
        cause: error,
      });
    });
  };
};
