import type { Context } from '../../context.ts';
import { describeError } from '../../describe-error.ts';
import type { OwnTime } from './time.ts';

/** Steps of a stop: one may fail or hang, and the next one comes all the same. */
export const createSteps =
  ({ log }: Pick<Context, 'log'>, time: OwnTime) =>
  async (what: string, work: Promise<unknown>, withinMs: number): Promise<void> => {
    let cancel = (): void => {};
    const outOfTime = new Promise<'late'>((resolve) => {
      cancel = time.after(withinMs, () => resolve('late'));
    });
    try {
      if ((await Promise.race([work, outOfTime])) === 'late')
        log.warn({ step: what, withinMs }, 'stopping webhooks: a step took too long');
    } catch (error) {
      log.warn({ step: what, fault: describeError(error) }, 'stopping webhooks: a step failed');
    } finally {
      cancel();
    }
  };
