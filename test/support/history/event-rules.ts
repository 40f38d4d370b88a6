import {
  MOVE_ENTRIES,
  OFFLINE_REPAIR_MOVES,
  START_STATUSES,
  TRADE_RETURN_MOVES,
  TRADE_RETURN_START,
} from '../../../contract/lifecycle.ts';
import type { FeedItem, FeedRead } from './history.ts';
import { type KeptEvent, type KeptRma, originOf } from './kept.ts';
import { byId, groupBy, isoOf, type Rule, repeated } from './rule.ts';

// Events tell of each RMA's life as it was, and the feed tells every event once.

interface Told {
  event: string;
  timestamp: string;
  data: { id: string; status: string; previousStatus?: string };
}

const CREATED = ['offline_repair.created', 'trade_return.created'];
const STARTS: readonly string[] = [...START_STATUSES, TRADE_RETURN_START];
const MOVES: readonly { event: string; to: string | null; from?: readonly string[] }[] = [
  ...Object.values(OFFLINE_REPAIR_MOVES),
  ...Object.values(TRADE_RETURN_MOVES),
];

/** What is wrong with an event that comes after that status; null as status: it is the first. */
const faultIn = ({ event, data }: Told, before: string | null): string | null => {
  const { status, previousStatus = before } = data;
  if (before === null) return CREATED.includes(event) && STARTS.includes(status) ? null : 'is the first';
  if (previousStatus !== before) return `says that it was ${previousStatus}, and it was ${before}`;
  const isAllowed = MOVES.some(
    (move) => move.event === event && (move.to ?? before) === status && (move.from?.includes(before) ?? true),
  );
  return isAllowed ? null : `leads from ${before} to ${status}`;
};

const faultsInLife = (rma: KeptRma, events: KeptEvent[]): string[] => {
  const faults: string[] = [];
  let before: string | null = null;
  let latest = Number.NEGATIVE_INFINITY;
  for (const { id, event, at, body } of events) {
    const told: Told = JSON.parse(body);
    if (told.event !== event || told.timestamp !== isoOf(at) || told.data.id !== rma.id)
      faults.push(`the event ${id} of ${rma.id} says something else in its body`);
    if (at <= latest) faults.push(`${event} of ${rma.id} is not later than the event before it`);
    const fault = faultIn(told, before);
    if (fault) faults.push(`${event} of ${rma.id} ${fault}`);
    [before, latest] = [told.data.status, at];
  }
  if (before !== rma.status) faults.push(`${rma.id} is ${rma.status}, and its last event says ${before}`);
  return faults;
};

const livesInOrder: Rule = (_history, { rmas, events }) => {
  const known = byId(rmas);
  const lives = groupBy(events, ({ rmaId }) => rmaId);
  return [
    ...events
      .filter(({ rmaId }) => !known.has(rmaId))
      .map(({ event, rmaId }) => `${event} tells of ${rmaId}, which is not there`),
    ...rmas
      .filter((rma) => originOf(rma) === 'API')
      .flatMap((rma) => faultsInLife(rma, lives.get(rma.id) ?? [])),
  ];
};

const TOLD_BY_EVENTS: readonly string[] = ['CREATED', ...MOVE_ENTRIES];

const timelineTellsTheSame: Rule = (_history, { rmas, events, timeline }) => {
  const entries = groupBy(
    timeline.filter(({ type }) => TOLD_BY_EVENTS.includes(type)),
    ({ rmaId }) => rmaId,
  );
  const lives = groupBy(events, ({ rmaId }) => rmaId);
  const timesOf = (items: { at: number }[] = []) => items.map(({ at }) => at).join();
  return rmas
    .filter((rma) => originOf(rma) === 'API')
    .filter(({ id }) => timesOf(entries.get(id)) !== timesOf(lives.get(id)))
    .map(({ id }) => `the timeline of ${id} differs from its events`);
};

const positionsWithoutGap: Rule = (_history, { events }) =>
  [...groupBy(events, ({ shopId }) => shopId)].flatMap(([shopId, own]) => {
    const first = own[0]?.position ?? 0;
    return own.every(({ position }, i) => position === first + i)
      ? []
      : [`the positions of the events of shop ${shopId} have a gap or a repeat`];
  });

const bodyOf = ({ event, timestamp, data }: FeedItem): string => JSON.stringify({ event, timestamp, data });

const faultsInFeed = ({ items }: FeedRead, events: KeptEvent[]): string[] => {
  const read = new Set(items.map(({ id }) => id));
  const there = byId(events);
  const order = items.filter(({ id }) => there.has(id)).map(({ id }) => there.get(id)?.position as number);
  return [
    ...repeated(items.map(({ id }) => id)).map((id) => `the feed told the event ${id} more than once`),
    ...events.filter(({ id }) => !read.has(id)).map(({ id }) => `the feed never told the event ${id}`),
    ...items.filter(({ id }) => !there.has(id)).map(({ id }) => `the feed made up the event ${id}`),
    ...(order.some((position, i) => position < (order[i - 1] ?? 0)) ? ['the feed went back'] : []),
    ...items
      .filter((item) => there.has(item.id) && there.get(item.id)?.body !== bodyOf(item))
      .map(({ id }) => `the feed told the event ${id} in other words than its webhook`),
  ];
};

const feedWithoutGap: Rule = ({ feeds }, { events }) =>
  feeds.flatMap((feed) =>
    faultsInFeed(
      feed,
      events.filter(({ shopId }) => shopId === feed.shopId),
    ),
  );

export const EVENT_RULES = {
  'events of an RMA follow its life': livesInOrder,
  'the timeline tells the same': timelineTellsTheSame,
  'positions have no gap': positionsWithoutGap,
  'the feed has no gap and no repeat': feedWithoutGap,
};
