import { MOST_IN_FLIGHT, MOST_IN_FLIGHT_PER_RECEIVER } from './policy.ts';

/** A receiver that let an exchange run into its time limit gets one at a time until it answers again. */
const MOST_WHILE_SLOW = 1;
/** Where all room was taken, nothing more is claimed before so much is free: few large claims, not many small ones. */
const WORTH_A_CLAIM = 32;

/** What is on its way, by receiver: who may have how many more. */
export const createFlights = () => {
  const underWay = new Map<string, number>();
  const slow = new Set<string>();
  let unsettled = 0;
  let whenEmpty: (() => void) | null = null;

  const capOf = (clientId: string): number =>
    slow.has(clientId) ? MOST_WHILE_SLOW : MOST_IN_FLIGHT_PER_RECEIVER;

  return {
    /** How many more one receiver may have. */
    roomOf: (clientId: string): number => capOf(clientId) - (underWay.get(clientId) ?? 0),
    /** Whether so much of a receiver's room is free that filling it up is worth a look at its queue. */
    hasEased: (clientId: string): boolean => (underWay.get(clientId) ?? 0) <= capOf(clientId) / 2,
    /** How many more all together may have. */
    room: (): number => MOST_IN_FLIGHT - unsettled,
    /** The same of the room of all. */
    haveEased: (): boolean => MOST_IN_FLIGHT - unsettled >= WORTH_A_CLAIM,
    start(clientId: string): void {
      underWay.set(clientId, (underWay.get(clientId) ?? 0) + 1);
      unsettled += 1;
    },
    land(clientId: string, timedOut: boolean): void {
      const left = (underWay.get(clientId) ?? 1) - 1;
      if (left > 0) underWay.set(clientId, left);
      else underWay.delete(clientId);
      if (timedOut) slow.add(clientId);
      else slow.delete(clientId);
    },
    settled(): void {
      unsettled -= 1;
      if (unsettled === 0) whenEmpty?.();
    },
    allSettled: (): Promise<void> =>
      unsettled === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            whenEmpty = resolve;
          }),
  };
};
export type Flights = ReturnType<typeof createFlights>;
