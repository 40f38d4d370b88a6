import type { Moment, Stopwatch } from './stopwatch.ts';

/** When a receiver has to be called at the latest: each has one alarm, the earliest that was set. */
export const createAlarms = (stopwatch: Stopwatch) => {
  const alarms = new Map<string, { since: Moment; waitMs: number }>();
  const leftOf = ({ since, waitMs }: { since: Moment; waitMs: number }): number =>
    waitMs - stopwatch.passedSince(since);

  return {
    set(clientId: string, waitMs: number): void {
      const known = alarms.get(clientId);
      if (!known || leftOf(known) > waitMs) alarms.set(clientId, { since: stopwatch.now(), waitMs });
    },
    /** Takes out those whose time has come. */
    takeDue(): string[] {
      const due: string[] = [];
      for (const [clientId, alarm] of alarms) if (leftOf(alarm) <= 0) due.push(clientId);
      for (const clientId of due) alarms.delete(clientId);
      return due;
    },
    /** How long until the next one; infinity where there is none. */
    soonestMs(): number {
      let soonest = Number.POSITIVE_INFINITY;
      for (const alarm of alarms.values()) soonest = Math.min(soonest, leftOf(alarm));
      return soonest;
    },
  };
};
