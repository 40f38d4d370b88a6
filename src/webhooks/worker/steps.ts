import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from '../../context.ts';
import { describeError } from '../../describe-error.ts';

/** Steps of a stop: one may fail or hang, and the next one comes all the same. */
export const createSteps =
  ({ log }: Pick<Context, 'log'>) =>
  async (what: string, work: Promise<unknown>, withinMs: number): Promise<void> => {
    const inTime = new AbortController();
    const outOfTime = pause(withinMs, 'late', { signal: inTime.signal }).catch(() => 'in time');
    try {
      if ((await Promise.race([work, outOfTime])) === 'late')
        log.warn({ step: what, withinMs }, 'stopping webhooks: a step took too long');
    } catch (error) {
      log.warn({ step: what, fault: describeError(error) }, 'stopping webhooks: a step failed');
    } finally {
      inTime.abort();
    }
  };
