import type { Context } from '../../context.ts';
import { describeError } from '../../describe-error.ts';
import { HAND_OVER_EVERY_MS, RENEW_MS } from '../policy.ts';
import type { InFlight } from './in-flight.ts';
import type { Leases } from './leases.ts';
import type { OwnTime } from './time.ts';

interface Parts {
  leases: Leases;
  inFlight: InFlight;
  time: OwnTime;
}

/** Renews the leases of receivers that something is under way to. Returns how to end that. */
export const keepLeases = ({ log }: Pick<Context, 'log'>, { leases, inFlight, time }: Parts): (() => void) =>
  time.every(RENEW_MS, () => {
    leases
      .keep(inFlight.receivers())
      .catch((error) =>
        log.warn({ fault: describeError(error) }, 'the leases of webhook receivers were not renewed'),
      );
  });

/** Leaves receivers to the other processes, but those that something is under way to, and tells them. */
export const createHandOver = (
  { log, wake }: Pick<Context, 'log' | 'wake'>,
  { leases, inFlight, time }: Parts,
) => {
  const allBut = async (but: string[]): Promise<void> => {
    if ((await leases.release(but)) > 0) wake('deliveries', null);
  };
  return {
    all: () => allBut([]),
    /** Again and again until all have ended: one receiver that hangs delays nobody else's next event. Returns how to end that. */
    meanwhile: () =>
      time.every(HAND_OVER_EVERY_MS, () => {
        allBut(inFlight.receivers()).catch((error) =>
          log.warn({ fault: describeError(error) }, 'webhook receivers could not be handed over yet'),
        );
      }),
  };
};
