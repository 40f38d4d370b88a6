import {
  MOVE_ENTRIES,
  OFFLINE_REPAIR_MOVES,
  START_STATUSES,
  TRADE_RETURN_MOVES,
  TRADE_RETURN_RECEIPT,
  TRADE_RETURN_START,
} from '../../../contract/lifecycle.ts';
import { isAcknowledged, MAX_ATTEMPTS } from '../../../src/webhooks/policy.ts';
import type { Attempt } from '../../../src/webhooks/queue.ts';
import type { FeedItem, FeedRead, History, Receipt } from './history.ts';
import { type Kept, type KeptDelivery, type KeptEvent, type KeptRma, originOf } from './kept.ts';

/** Finds what breaks one promise: a sentence for each fault. */
type Rule = (history: History, kept: Kept) => string[];

const byId = <Item extends { id: string }>(items: readonly Item[]): Map<string, Item> =>
  new Map(items.map((item) => [item.id, item]));

const repeated = (names: readonly string[]): string[] => {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const name of names) (seen.has(name) ? twice : seen).add(name);
  return [...twice];
};

const isoOf = (at: number): string => new Date(at).toISOString();

// What callers were told holds: what was acknowledged is there, and one key made one RMA.

const numberOf = (rmaNumber: string): number => Number(rmaNumber.replace('#RMA-', ''));

const creationsExist: Rule = ({ creations }, { rmas }) => {
  const kept = byId(rmas);
  return creations.flatMap(({ id, rmaNumber }) => {
    const rma = kept.get(id);
    if (!rma) return [`${rmaNumber} (${id}) was acknowledged and is not there`];
    return rma.number === numberOf(rmaNumber)
      ? []
      : [`${id} was acknowledged as ${rmaNumber} and has the number ${rma.number}`];
  });
};

const movesExist: Rule = ({ moves }, { events }) => {
  const made = new Set(events.map(({ rmaId, event, at }) => `${event} of ${rmaId} at ${isoOf(at)}`));
  return moves
    .map(({ rmaId, event, timestamp }) => `${event} of ${rmaId} at ${timestamp}`)
    .filter((move) => !made.has(move))
    .map((move) => `${move} was acknowledged and is not there`);
};

const nameOf = ({ clientId, key }: { clientId: string | null; key: string | null }): string =>
  `${clientId} ${key}`;

const oneKeyOneRma: Rule = ({ keys, creations }, { rmas }) => {
  const used = new Map(keys.map((use) => [nameOf(use), use.key]));
  const responses = Map.groupBy(
    creations.filter(({ key }) => key !== null),
    nameOf,
  );
  const made = Map.groupBy(rmas, ({ clientId, externalRef }) => nameOf({ clientId, key: externalRef }));
  return [...used].flatMap(([name, key]) => {
    const ids = made.get(name)?.map(({ id }) => id) ?? [];
    const different = new Set(responses.get(name)?.map(({ response }) => response));
    return [
      ...(ids.length > 1 ? [`the key ${key} made ${ids.length} RMAs: ${ids.join(', ')}`] : []),
      ...(different.size > 1 ? [`the key ${key} got ${different.size} different answers`] : []),
    ];
  });
};

// What a shop's counters say is what its rows say.

const numbersUnique: Rule = (_history, { shops, rmas }) => [
  ...repeated(rmas.map(({ shopId, number }) => `number ${number} of shop ${shopId}`)).map(
    (number) => `the ${number} was given more than once`,
  ),
  ...shops.flatMap(({ id, lastNumber }) =>
    rmas
      .filter(({ shopId, number }) => shopId === id && number > lastNumber)
      .map(
        ({ number }) => `shop ${id} would give the number ${number} again: its counter is at ${lastNumber}`,
      ),
  ),
];

const allowanceExact: Rule = (_history, { shops, rmas }) =>
  shops.flatMap(({ id, allowance, month, used }) => {
    const created = rmas.filter((rma) => rma.shopId === id && isoOf(rma.createdAt).startsWith(month)).length;
    return [
      ...(used === created
        ? []
        : [`shop ${id} has ${created} RMAs of ${month} and ${used} places of it taken`]),
      ...(allowance !== null && created > allowance
        ? [`shop ${id} has ${created} RMAs of ${month} and an allowance of ${allowance}`]
        : []),
    ];
  });

const totalsAreCounts: Rule = (_history, { totals, rmas }) => {
  const counted = Map.groupBy(rmas, (rma) => `${rma.kind} of ${rma.shopId}, ${originOf(rma)}, ${rma.status}`);
  const kept = new Map(
    totals.map(({ shopId, kind, origin, status, count }) => [
      `${kind} of ${shopId}, ${origin}, ${status}`,
      count,
    ]),
  );
  return [...new Set([...counted.keys(), ...kept.keys()])].flatMap((name) => {
    const [total, count] = [kept.get(name) ?? 0, counted.get(name)?.length ?? 0];
    return total === count ? [] : [`${name}: the total is ${total}, and there are ${count}`];
  });
};

// Events match the history of each RMA, and the feed has every event once.

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
  TRADE_RETURN_RECEIPT,
  // Of corrections and assignments.
  { event: 'offline_repair.updated', to: null },
  { event: 'trade_return.updated', to: null },
  { event: 'offline_repair.erased', to: null },
  { event: 'trade_return.erased', to: null },
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
  const lives = Map.groupBy(events, ({ rmaId }) => rmaId);
  return [
    ...events
      .filter(({ rmaId }) => !known.has(rmaId))
      .map(({ event, rmaId }) => `${event} tells of ${rmaId}, which is not there`),
    ...rmas
      .filter((rma) => originOf(rma) === 'API')
      .flatMap((rma) => faultsInLife(rma, lives.get(rma.id) ?? [])),
  ];
};

const TOLD_BY_EVENTS: readonly string[] = ['CREATED', ...MOVE_ENTRIES, 'CORRECTED', 'ASSIGNED', 'ERASED'];

const timelineTellsTheSame: Rule = (_history, { rmas, events, timeline }) => {
  const entries = Map.groupBy(
    timeline.filter(({ type }) => TOLD_BY_EVENTS.includes(type)),
    ({ rmaId }) => rmaId,
  );
  const lives = Map.groupBy(events, ({ rmaId }) => rmaId);
  const timesOf = (items: { at: number }[] = []) => items.map(({ at }) => at).join();
  return rmas
    .filter((rma) => originOf(rma) === 'API')
    .filter(({ id }) => timesOf(entries.get(id)) !== timesOf(lives.get(id)))
    .map(({ id }) => `the timeline of ${id} differs from its events`);
};

const positionsWithoutGap: Rule = (_history, { events }) =>
  [...Map.groupBy(events, ({ shopId }) => shopId)].flatMap(([shopId, own]) => {
    const first = own[0]?.position ?? 0;
    return own.every(({ position }, i) => position === first + i)
      ? []
      : [`the positions of the events of shop ${shopId} have a gap or a repeat`];
  });

const bodyOf = ({ event, timestamp, data }: FeedItem): string => JSON.stringify({ event, timestamp, data });

/** What was read before its return was erased had other words. */
const faultsInFeed = (
  { items }: FeedRead,
  events: KeptEvent[],
  isErased: (rmaId?: string) => boolean,
): string[] => {
  const read = new Set(items.map(({ id }) => id));
  const there = byId(events);
  const order = items.filter(({ id }) => there.has(id)).map(({ id }) => there.get(id)?.position as number);
  return [
    ...repeated(items.map(({ id }) => id)).map((id) => `the feed told the event ${id} more than once`),
    ...events.filter(({ id }) => !read.has(id)).map(({ id }) => `the feed never told the event ${id}`),
    ...items.filter(({ id }) => !there.has(id)).map(({ id }) => `the feed made up the event ${id}`),
    ...(order.some((position, i) => position < (order[i - 1] ?? 0)) ? ['the feed went back'] : []),
    ...items
      .filter(({ id }) => there.has(id) && !isErased(there.get(id)?.rmaId))
      .filter((item) => there.get(item.id)?.body !== bodyOf(item))
      .map(({ id }) => `the feed told the event ${id} in other words than its webhook`),
  ];
};

const feedWithoutGap: Rule = ({ feeds }, { events, rmas }) => {
  const erased = new Set(rmas.filter(({ erasedAt }) => erasedAt !== null).map(({ id }) => id));
  return feeds.flatMap((feed) =>
    faultsInFeed(
      feed,
      events.filter(({ shopId }) => shopId === feed.shopId),
      (rmaId) => rmaId !== undefined && erased.has(rmaId),
    ),
  );
};

// Every event that has a receiver is delivered, or dropped after four attempts; and always the same bytes.

const isDone = ({ statusCode }: Attempt): boolean => statusCode !== null && isAcknowledged(statusCode);

const faultInLog = ({ status, attempts, log }: KeptDelivery): string | null => {
  if (status === 'PENDING') return 'is still waiting';
  if (log === null || log.length !== attempts) return `counts ${attempts} attempts and lists ${log?.length}`;
  if (log.slice(0, -1).some(isDone)) return 'went on after it was acknowledged';
  if (status === 'DELIVERED') {
    const last = log.at(-1);
    return last && isDone(last) ? null : 'is delivered without an acknowledgement';
  }
  return log.length === MAX_ATTEMPTS && !log.some(isDone)
    ? null
    : `was dropped after ${log.filter((each) => !isDone(each)).length} failed attempts`;
};

/** Attempts that were counted came to the receiver, and no others but those whose process died before it could count them. */
const faultInReceipts = ({ status, attempts }: KeptDelivery, receipts: Receipt[]): string | null => {
  const tried = [...new Set(receipts.map(({ attempt }) => attempt))].sort((one, other) => one - other);
  if (tried.join() !== Array.from({ length: attempts }, (_, i) => i + 1).join())
    return `counts ${attempts} attempts, and its receiver saw attempts ${tried.join(', ') || 'none'}`;
  const wasTaken = receipts.some((each) => each.status !== null && isAcknowledged(each.status));
  return status === 'DELIVERED' && !wasTaken ? 'is delivered, and its receiver never took it' : null;
};

const unsent = ({ rmas, receivingClients, events, deliveries }: Kept): string[] => {
  const clientOf = new Map(rmas.map(({ id, clientId }) => [id, clientId]));
  const receiving = new Set<string | null | undefined>(receivingClients);
  const sent = new Set(deliveries.map(({ id }) => id));
  return events
    .filter(({ id, rmaId }) => receiving.has(clientOf.get(rmaId)) && !sent.has(id))
    .map(({ id }) => `the event ${id} has a receiver and no delivery`);
};

const deliveredOrDropped: Rule = ({ receipts }, kept) => {
  const cameIn = Map.groupBy(receipts, ({ id }) => id);
  return [
    ...unsent(kept),
    ...kept.deliveries.flatMap((delivery) => {
      const fault = faultInLog(delivery) ?? faultInReceipts(delivery, cameIn.get(delivery.id) ?? []);
      return fault ? [`the delivery ${delivery.id} ${fault}`] : [];
    }),
  ];
};

const sameBytes: Rule = ({ receipts }, { events }) => {
  const written = byId(events);
  return receipts
    .filter(({ id, bytes }) => written.get(id)?.body !== bytes)
    .map(({ id, attempt }) =>
      written.has(id)
        ? `attempt ${attempt} of ${id} brought other bytes than the event has`
        : `attempt ${attempt} of ${id} brought an event that is not there`,
    );
};

// What must be true of every run, whatever was done to the service meanwhile.

const RULES = {
  'acknowledged creations exist': creationsExist,
  'acknowledged moves exist': movesExist,
  'one key, one RMA, one response': oneKeyOneRma,
  'numbers are unique': numbersUnique,
  'the allowance is exact': allowanceExact,
  'totals are counts': totalsAreCounts,
  'events of an RMA follow its life': livesInOrder,
  'the timeline tells the same': timelineTellsTheSame,
  'positions have no gap': positionsWithoutGap,
  'the feed has no gap and no repeat': feedWithoutGap,
  'each event is delivered, or dropped after four attempts': deliveredOrDropped,
  'every attempt brings the same bytes': sameBytes,
} as const;
export type RuleName = keyof typeof RULES;
export const RULE_NAMES = Object.keys(RULES) as RuleName[];

export interface HistoryFault {
  rule: RuleName;
  what: string;
}

/** Everything that is wrong with a history, given what stands in the database at its end. */
export const check = (history: History, kept: Kept): HistoryFault[] =>
  RULE_NAMES.flatMap((rule) => RULES[rule](history, kept).map((what) => ({ rule, what })));
