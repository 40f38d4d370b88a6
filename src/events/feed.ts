import { sql } from 'kysely';
import { type EventQuery, LATEST } from '../../contract/event-feed.ts';
import { SPECIFIED_EVENTS } from '../../contract/webhook-event.ts';
import { statement, statementsBy } from '../db/statements.ts';
import type { Engine } from '../db/types.ts';
import { parseJsonColumn } from '../lib/json.ts';
import { viewRow } from '../paging/page-response.ts';
import type { Core } from '../platform/core.ts';
import { invalidField, ServiceError } from '../platform/errors.ts';
import { sha256 } from '../platform/secrets.ts';
import { KEPT_MS } from './event.ts';

// A shop's events are committed in the order of their positions, without gaps: a reader that is at a position has not
// missed anything before it.

/** A reader that begins with the oldest event must not find it expired a moment later. */
const MARGIN_MS = 10_000;
/** Events become invisible before they are deleted; otherwise a page could lose an event while it is read. */
export const DELETED_AFTER_MS = KEPT_MS + 60_000;
/** The limit of a page, unless a single event is larger: a hundred events of 250 items would be 12 MB. */
const MOST_BYTES = 256 * 1024;

interface FoundEvent {
  position: number;
  id: string;
  at: number;
  /** The size of this event and those before it on the page. */
  bytes_so_far: number;
  body: string;
}

/** One page scans at most this many rows for the requested types, which takes a few milliseconds. */
const SCANNED_POSITIONS = 2_000;

/**
 * Reads in one snapshot the events of the requested types after a position that fit into a page, the time of the next event of any
 * type, and the shop's newest position. It reads only bodies that fit, since SQLite would copy all of them through the window. The
 * cast is for SQLite, which prepares a statement with a bare parameter as `limit` for every run, as slow as reading a page.
 */
const eventsAfter = statementsBy((which: 'all' | 'some') =>
  statement(
    (
      { oneOf }: Engine,
      { shop, after, limit, types }: { shop: string; after: number; limit: number; types: string[] },
    ) => sql<{ last_position: number; next_at: number | null } & (FoundEvent | { position: null })>`
    with page as (
      select position, id, at, octet_length(body) as bytes from events
      where shop_id = ${shop} and position > ${after} and position <= cast(${after} as bigint) + ${sql.lit(SCANNED_POSITIONS)}
        ${which === 'all' ? sql`` : sql`and event ${oneOf('text', types)}`}
      order by position limit cast(${limit} as bigint)
    ), sized as (
      select position, id, at, bytes, sum(bytes) over (order by position) as bytes_so_far from page
    )
    select counter.last_position, fits.position, fits.id, fits.at, fits.bytes_so_far,
      (select at from events where shop_id = ${shop} and position = cast(${after} as bigint) + 1) as next_at,
      (select body from events where id = fits.id) as body
    from shop_counters as counter
    left join sized as fits on fits.bytes_so_far - fits.bytes < ${sql.lit(MOST_BYTES)}
    where counter.shop_id = ${shop}
    order by fits.position`,
  ),
);

/** The shop's last position before a time. Times never decrease along a shop's feed, and few events have expired. */
const lastBefore = async ({ lists }: Core, shop: string, since: number): Promise<number> => {
  const { rows } = await sql<{ before: number }>`
    select coalesce(
      (select position from events where shop_id = ${shop} and at >= ${since} order by position limit 1) - 1, last_position
    ) as before
    from shop_counters where shop_id = ${shop}`.execute(lists);
  return rows[0]?.before ?? 0;
};

// A cursor names a position in one shop's feed. It contains no secret: because of its checksum, a cursor that is of another
// shop, truncated or made up is refused instead of returning the wrong events.

const cursorOf = (shopId: string, position: number): string => {
  const check = sha256(`${shopId} ${position}`).slice(0, 8);
  return Buffer.from(`${position}.${check}`).toString('base64url');
};

/** Each position has exactly one cursor. */
const positionOf = (shopId: string, cursor: string): number => {
  const [digits = ''] = Buffer.from(cursor, 'base64url').toString('latin1').split('.');
  const position = Number(digits);
  if (!/^\d{1,15}$/.test(digits) || cursorOf(shopId, position) !== cursor) throw unknownCursor();
  return position;
};

const unknownCursor = () => invalidField('after', 'cursor', 'is not a cursor of this feed');

/** Returns the position of a reader's cursor; without a cursor, the position before the oldest event. */
export const startOf = async (
  ctx: Core,
  shopId: string,
  after: EventQuery['after'],
): Promise<number | typeof LATEST> => {
  if (after === LATEST) return LATEST;
  if (after === undefined) return lastBefore(ctx, shopId, ctx.clock.now() - KEPT_MS + MARGIN_MS);
  return positionOf(shopId, after);
};

export interface FeedPage {
  page: string;
  /** The position that its cursor names. */
  last: number;
  isEmpty: boolean;
}

/** Reads a page; `types` null means all types. It skips a damaged event as if it had not been requested. */
export const readFeed = async (
  ctx: Core,
  shopId: string,
  start: number | typeof LATEST,
  limit: number,
  types: readonly string[] | null = SPECIFIED_EVENTS,
): Promise<FeedPage> => {
  const after = start === LATEST ? 0 : start;
  const asked = { shop: shopId, after, limit: start === LATEST ? 0 : limit, types: [...(types ?? [])] };
  const { rows } = await ctx.lists.executeQuery(ctx.fill(eventsAfter(types ? 'some' : 'all'), asked));
  const { last_position: newest = 0, next_at: nextAt = null } = rows[0] ?? {};
  if (start === LATEST) return { page: pageText(shopId, [], newest, false), last: newest, isEmpty: true };
  if (after > newest) throw unknownCursor();
  if (after < newest && (nextAt === null || nextAt < ctx.clock.now() - KEPT_MS))
    throw new ServiceError('CURSOR_EXPIRED');
  const events = rows.filter((row): row is (typeof rows)[number] & FoundEvent => row.position !== null);
  const end = events.at(-1);
  const isFull = end && (events.length === limit || end.bytes_so_far >= MOST_BYTES);
  const items = events.flatMap((event) => viewRow(ctx, { name: 'events', view: itemText }, event) ?? []);
  const last = isFull ? end.position : Math.min(after + SCANNED_POSITIONS, newest);
  return {
    page: pageText(shopId, items, last, last < newest),
    last,
    isEmpty: events.length === 0 && last === newest,
  };
};

const pageText = (shopId: string, items: string[], last: number, hasMore: boolean): string =>
  `{"items":[${items.join()}],"cursor":"${cursorOf(shopId, last)}","hasMore":${hasMore}}`;

/**
 * Adds the id to the stored text, which is not parsed, since a number could lose digits of an amount. Throws unless the text has the
 * form in which events are written: damaged text may still be JSON, and without fields after the id it would break the whole page.
 * An unknown name may be from a newer version.
 */
const itemText = ({ id, body }: FoundEvent): string => {
  const stored = parseJsonColumn('body', body);
  const texts = [stored?.event, stored?.timestamp, stored?.data?.id];
  if (!body.startsWith('{"') || texts.some((text) => typeof text !== 'string'))
    throw new Error('the column body does not hold an event');
  return `{"id":${JSON.stringify(id)},${body.slice(1)}`;
};
