import type { Context } from '../../context.ts';
import { describeError } from '../../describe-error.ts';
import { LONGEST_WAIT_MS, type PoolName } from '../policy.ts';
import type { InFlight } from './in-flight.ts';
import type { Lookout } from './lookout.ts';
import type { Due } from './queue.ts';
import type { ReadyReceivers } from './ready-receivers.ts';
import type { Receiver } from './receivers.ts';
import type { Settlement } from './settle.ts';

/** Writes down how attempts ended. */
export interface Settler {
  /** True once it is written down; false where that was given up. */
  add(settlement: Settlement): Promise<boolean>;
  giveUp(): void;
}

/** Sends a delivery on its way, in a place of this pool. */
export type Carry<Result> = (delivery: Due, receiver: Receiver | undefined, pool: PoolName) => Result;

interface Parts {
  inFlight: InFlight;
  ready: ReadyReceivers;
  lookout: Lookout;
  settler: Settler;
  attempt(delivery: Due, receiver: Receiver | undefined): Promise<Settlement | null>;
  wakeAll(): void;
  wakeWhoCanGoOn(): void;
}

/** Takes one delivery through one attempt: in flight → landed → settled. */
export const createCarrier = ({ clock, log }: Pick<Context, 'clock' | 'log'>, parts: Parts) => {
  const { inFlight, ready, lookout, settler, attempt, wakeAll, wakeWhoCanGoOn } = parts;

  /** There may be room now: in the pool, and for this receiver. */
  const roomFor = (clientId: string): void => {
    if (ready.gotRoom(clientId)) wakeAll();
    else wakeWhoCanGoOn();
  };

  const carry: Carry<Promise<void>> = async (delivery, receiver, pool) => {
    const { id, clientId, body } = delivery;
    const about = { clientId, deliveryId: id, bytes: body?.length ?? 0, pool };
    const flight = inFlight.start(about, () => roomFor(clientId));
    const settlement = await attempt(delivery, receiver);
    inFlight.land(flight, settlement && settlement.status === 'DELIVERED');
    ready.landed(clientId);
    roomFor(clientId);
    const written = settlement !== null && (await settler.add(settlement));
    const owner = inFlight.settled(flight);
    const isToBeRetried = written && settlement.status === 'PENDING';
    if (isToBeRetried) lookout.retryAfter(owner, Math.min(settlement.dueAt - clock.now(), LONGEST_WAIT_MS));
    roomFor(clientId);
    if (isToBeRetried) wakeAll();
  };

  const send: Carry<void> = (delivery, receiver, pool) =>
    void carry(delivery, receiver, pool).catch((error) =>
      log.error({ deliveryId: delivery.id, fault: describeError(error) }, 'a webhook was lost sight of'),
    );
  return send;
};
