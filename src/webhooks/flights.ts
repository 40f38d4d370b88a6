import { MOST_IN_FLIGHT, MOST_IN_FLIGHT_PER_RECEIVER } from './policy.ts';

/** A receiver that let an exchange run into its time limit gets one at a time until it answers again. */
const MOST_WHILE_SLOW = 1;

/** What is on its way, by receiver: who may have how many more. */
export const createFlights = () => {
  const underWay = new Map<string, number>();
  const slow = new Set<string>();
  let unsettled = 0;
  /** Somebody was passed over for want of room since the last flight ended. */
  let crowded = false;
  let whenEmpty: (() => void) | null = null;

  const roomOf = (clientId: string): number =>
    (slow.has(clientId) ? MOST_WHILE_SLOW : MOST_IN_FLIGHT_PER_RECEIVER) - (underWay.get(clientId) ?? 0);

  const relieved = (): boolean => {
    const was = crowded;
    crowded = false;
    return was;
  };

  return {
    /** Shares out what room there is among receivers, in the order given. */
    share(receivers: { clientId: string }[], most: number): { clientId: string; room: number }[] {
      let left = MOST_IN_FLIGHT - unsettled;
      const shares: { clientId: string; room: number }[] = [];
      for (const { clientId } of receivers) {
        const room = Math.min(roomOf(clientId), left);
        if (room <= 0) {
          crowded = true;
          continue;
        }
        shares.push({ clientId, room });
        left -= room;
        if (shares.length === most) break;
      }
      return shares;
    },
    start(clientId: string): void {
      underWay.set(clientId, (underWay.get(clientId) ?? 0) + 1);
      unsettled += 1;
    },
    /** Gives back whether somebody waits for the room this makes. */
    land(clientId: string, timedOut: boolean): boolean {
      const left = (underWay.get(clientId) ?? 1) - 1;
      if (left > 0) underWay.set(clientId, left);
      else underWay.delete(clientId);
      if (timedOut) slow.add(clientId);
      else slow.delete(clientId);
      return relieved();
    },
    settled(): boolean {
      unsettled -= 1;
      if (unsettled === 0) whenEmpty?.();
      return relieved();
    },
    allSettled: (): Promise<void> =>
      unsettled === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            whenEmpty = resolve;
          }),
  };
};
