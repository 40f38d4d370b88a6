import {
  FRESH_MS,
  MOST_FRESH,
  MOST_FRESH_BESIDE_REQUESTS,
  MOST_IN_FLIGHT,
  MOST_IN_FLIGHT_PER_RECEIVER,
} from './policy.ts';

/** A receiver that let an exchange run into its time limit gets one at a time until it answers again. */
const MOST_WHILE_SLOW = 1;

/** One exchange that is under way. */
export interface Flight {
  clientId: string;
  deliveryId: string;
  /** Stops counting as fresh when this rings, or when it lands. */
  fresh: NodeJS.Timeout | null;
}

/** What is on its way, by receiver: who may have how many more. */
export const createFlights = (requestsUnderWay: () => number) => {
  const underWay = new Map<string, number>();
  const slow = new Set<string>();
  /** Deliveries whose attempt is not yet written down, by receiver. */
  const unsettledOf = new Map<string, Set<string>>();
  let unsettled = 0;
  let fresh = 0;
  let whenEmpty: (() => void) | null = null;

  const capOf = (clientId: string): number =>
    slow.has(clientId) ? MOST_WHILE_SLOW : MOST_IN_FLIGHT_PER_RECEIVER;
  const mostFresh = (): number => (requestsUnderWay() > 0 ? MOST_FRESH_BESIDE_REQUESTS : MOST_FRESH);
  const room = (): number => Math.min(MOST_IN_FLIGHT - unsettled, mostFresh() - fresh);
  const age = (flight: Flight): void => {
    if (!flight.fresh) return;
    clearTimeout(flight.fresh);
    flight.fresh = null;
    fresh -= 1;
  };

  return {
    /** How many more one receiver may have. */
    roomOf: (clientId: string): number => capOf(clientId) - (underWay.get(clientId) ?? 0),
    /** Whether so much of a receiver's room is free that filling it up is worth a look at its queue. */
    hasEased: (clientId: string): boolean => (underWay.get(clientId) ?? 0) <= capOf(clientId) / 2,
    /** How many more all together may have. */
    room,
    /** The same of the room of all: few large rounds, not many small ones. */
    haveEased: (): boolean => room() >= mostFresh() / 2,
    /** `whenAged` is called where it stops being fresh in the air: there is room for another. */
    start(clientId: string, deliveryId: string, whenAged: () => void): Flight {
      underWay.set(clientId, (underWay.get(clientId) ?? 0) + 1);
      const ids = unsettledOf.get(clientId);
      if (ids) ids.add(deliveryId);
      else unsettledOf.set(clientId, new Set([deliveryId]));
      unsettled += 1;
      fresh += 1;
      const flight: Flight = { clientId, deliveryId, fresh: null };
      flight.fresh = setTimeout(() => {
        age(flight);
        whenAged();
      }, FRESH_MS);
      return flight;
    },
    land(flight: Flight, timedOut: boolean): void {
      const { clientId } = flight;
      age(flight);
      const left = (underWay.get(clientId) ?? 1) - 1;
      if (left > 0) underWay.set(clientId, left);
      else underWay.delete(clientId);
      if (timedOut) slow.add(clientId);
      else slow.delete(clientId);
    },
    settled({ clientId, deliveryId }: Flight): void {
      const ids = unsettledOf.get(clientId);
      ids?.delete(deliveryId);
      if (ids?.size === 0) unsettledOf.delete(clientId);
      unsettled -= 1;
      if (unsettled === 0) whenEmpty?.();
    },
    unsettledOf: (clientId: string): string[] => [...(unsettledOf.get(clientId) ?? [])],
    /** Who is waited for, or whose attempts are still to be written down. */
    receivers: (): string[] => [...unsettledOf.keys()],
    allSettled: (): Promise<void> =>
      unsettled === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            whenEmpty = resolve;
          }),
  };
};
export type Flights = ReturnType<typeof createFlights>;
