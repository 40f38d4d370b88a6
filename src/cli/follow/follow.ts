import { backOff, pause, type Say } from './back-off.ts';
import type { Feed, FeedEvent, FeedPage } from './feed.ts';

/** Where to go on: after this cursor, and after this event behind it. */
export interface Place {
  /** null: before the oldest event that is kept. */
  cursor: string | null;
  lastId: string | null;
}

export interface Taker {
  /** Gets each event in order, with the place that it leads to; the next one comes when this one is done with. */
  take(event: FeedEvent, place: Place): Promise<void>;
  /** Everything before this place is done with. */
  passed(place: Place): void;
}

/** A service that has nothing and does not wait either is not asked again at once. */
const LEAST_BETWEEN_EMPTY_MS = 1_000;

/** Hands every event to the taker until the command is stopped. */
export const follow = async (
  feed: Feed,
  start: Place,
  taker: Taker,
  { say, stop }: { say: Say; stop: AbortSignal },
): Promise<void> => {
  const { failed, worked } = backOff(say, stop, 'the service answers again');
  let { cursor, lastId } = start;
  while (!stop.aborted) {
    const askedAt = performance.now();
    const reading = await feed.read(cursor, stop);
    if (stop.aborted) return;
    if (!reading.page) {
      await failed(reading.why, reading.waitMs);
      continue;
    }
    worked();
    for (const event of unseen(reading.page, lastId)) {
      await taker.take(event, { cursor, lastId: event.id });
      if (stop.aborted) return;
    }
    const { items, cursor: next } = reading.page;
    if (items.length > 0 || next !== cursor) taker.passed({ cursor: next, lastId: null });
    if (items.length === 0 && next === cursor)
      await pause(LEAST_BETWEEN_EMPTY_MS - (performance.now() - askedAt), stop);
    cursor = next;
    lastId = null;
  }
};

/** What comes after an event of this page; all of it where that event is not kept any more. */
const unseen = ({ items }: FeedPage, lastId: string | null): FeedEvent[] =>
  items.slice(items.findIndex(({ id }) => id === lastId) + 1);
