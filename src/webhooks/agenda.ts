import type { Flights } from './flights.ts';

/** Who is to be served: receivers that have something due, as far as is known, and those that will have. */
export const createAgenda = ({
  roomOf,
  room,
  hasEased,
  haveEased,
}: Pick<Flights, 'roomOf' | 'room' | 'hasEased' | 'haveEased'>) => {
  const due = new Set<string>();
  /** Due, but at their cap: nobody looks at them again before one of their exchanges ends. */
  const parked = new Set<string>();
  const later = new Map<string, number>();

  /** Gives back whether somebody can be served now who could not before. */
  const call = (clientId: string): boolean => {
    if (roomOf(clientId) > 0) {
      due.add(clientId);
      return room() > 0;
    }
    parked.add(clientId);
    return false;
  };

  return {
    call,
    callAt(clientId: string, atMs: number): void {
      later.set(clientId, Math.min(atMs, later.get(clientId) ?? atMs));
    },
    /** One of the receiver's exchanges has ended. Gives back whether somebody can be served now who could not before. */
    landed: (clientId: string): boolean =>
      hasEased(clientId) && parked.delete(clientId) ? call(clientId) : false,
    /** Whether somebody waited for room among all, and there is some now. */
    isRelieved: (): boolean => due.size > 0 && haveEased(),
    /** Takes the next receivers off the agenda, each with the room it has. */
    next(nowMs: number, most: number): { clientId: string; room: number }[] {
      for (const [clientId, atMs] of later) {
        if (atMs > nowMs) continue;
        later.delete(clientId);
        call(clientId);
      }
      let left = room();
      const chosen: { clientId: string; room: number }[] = [];
      for (const clientId of due) {
        if (left <= 0 || chosen.length === most) break;
        due.delete(clientId);
        const share = Math.min(roomOf(clientId), left);
        if (share <= 0) parked.add(clientId);
        else chosen.push({ clientId, room: share });
        left -= Math.max(0, share);
      }
      return chosen;
    },
    /** When the next of those that wait for their time is due; infinity where none does. */
    soonest: (): number => Math.min(...later.values()),
  };
};
