import type { Clock } from '../../clock.ts';
import { type OwnTime, systemTime } from './time.ts';

/** A moment by both clocks: the shared one, which may be moved or step, and the process's own, which only runs forward. */
export interface Moment {
  clockMs: number;
  ownMs: number;
}

/**
 * How much time has passed, by whichever clock says more: a shared clock that steps back delays nothing, and one that
 * is moved forward counts at once.
 */
export const createStopwatch = (clock: Clock, own: Pick<OwnTime, 'now'> = systemTime) => ({
  now: (): Moment => ({ clockMs: clock.now(), ownMs: own.now() }),
  passedSince: ({ clockMs, ownMs }: Moment): number => Math.max(clock.now() - clockMs, own.now() - ownMs),
});
export type Stopwatch = ReturnType<typeof createStopwatch>;
