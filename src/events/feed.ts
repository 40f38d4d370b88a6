import { sql } from 'kysely';
import { type EventQuery, LATEST } from '../../contract/event-feed.ts';
import { prune } from '../db/prune.ts';
import { statement } from '../db/statements.ts';
import { lowestId } from '../lib/ids.ts';
import { parseJsonColumn } from '../lib/json.ts';
import type { Context } from '../service/context.ts';
import { invalidField, ServiceError } from '../service/errors.ts';
import { describeError } from '../service/log.ts';
import { sha256 } from '../service/secrets.ts';
import { KEPT_MS } from './event.ts';

// A shop's events are committed in the order of their positions, without gaps: a reader that has read up to a position has
// missed nothing before it.

/** A reader that begins with the oldest event must not find it too old a moment later. */
const MARGIN_MS = 10_000;
/** What is about to be deleted is not read any more: otherwise a page could lose an event while it is read. */
const DELETED_AFTER_MS = KEPT_MS + 60_000;
/** A page has no more than this, or one larger event: a hundred events of 250 items would be 12 MB. */
const MOST_BYTES = 256 * 1024;

interface FoundEvent {
  position: number;
  id: string;
  at: number;
  body: string;
}

/**
 * The events after a position that fit into a page, and the shop's newest position: of one moment. Only bodies that fit are
 * read: SQLite would copy all of them through the window. The cast: with a bare parameter as `limit` SQLite prepares the statement
 * again for every run, which takes as long as reading a page.
 */
const eventsAfter = statement(
  (_engine, { shop, after, limit }: { shop: string; after: number; limit: number }) => sql<
    { last_position: number } & (FoundEvent | { position: null })
  >`
    with page as (
      select position, id, at, octet_length(body) as bytes from events
      where shop_id = ${shop} and position > ${after} order by position limit cast(${limit} as bigint)
    ), sized as (
      select position, id, at, sum(bytes) over (order by position) - bytes as bytes_before from page
    )
    select counter.last_position, fits.position, fits.id, fits.at,
      (select body from events where id = fits.id) as body
    from shop_counters as counter
    left join sized as fits on fits.bytes_before < ${sql.lit(MOST_BYTES)}
    where counter.shop_id = ${shop}
    order by fits.position`,
);

/** The shop's last position before a time. Times never fall along a shop's log, and few events are past their time. */
const lastBefore = async ({ lists }: Context, shop: string, since: number): Promise<number> => {
  const { rows } = await sql<{ before: number }>`
    select coalesce(
      (select position from events where shop_id = ${shop} and at >= ${since} order by position limit 1) - 1, last_position
    ) as before
    from shop_counters where shop_id = ${shop}`.execute(lists);
  return rows[0]?.before ?? 0;
};

// A cursor names a position in one shop's event log. It holds nothing secret: the check is there so that a cursor of another
// shop, or one that was cut off or made up, is refused instead of answered with the wrong events.

const checkOf = (shopId: string, position: string): string => sha256(`${shopId} ${position}`).slice(0, 8);

const cursorOf = (shopId: string, position: number): string =>
  Buffer.from(`${position}.${checkOf(shopId, String(position))}`).toString('base64url');

/** null: no cursor of this shop. */
const positionOf = (shopId: string, cursor: string): number | null => {
  const [position = '', check] = Buffer.from(cursor, 'base64url').toString('latin1').split('.');
  if (!/^\d{1,15}$/.test(position) || check !== checkOf(shopId, position)) return null;
  const known = Number(position);
  // One position has one cursor.
  return cursorOf(shopId, known) === cursor ? known : null;
};

const readAfter = async (ctx: Context, shop: string, after: number, limit: number) => {
  const { rows } = await ctx.lists.executeQuery(ctx.fill(eventsAfter, { shop, after, limit }));
  return {
    events: rows.filter((row): row is { last_position: number } & FoundEvent => row.position !== null),
    newest: rows[0]?.last_position ?? 0,
  };
};

/** Where a reader begins: after its cursor, or before the oldest event kept. */
export const startOf = async (
  ctx: Context,
  shopId: string,
  after: EventQuery['after'],
): Promise<number | typeof LATEST> => {
  if (after === LATEST) return LATEST;
  if (after === undefined) return lastBefore(ctx, shopId, ctx.clock.now() - KEPT_MS + MARGIN_MS);
  const position = positionOf(shopId, after);
  if (position === null) throw unknownCursor();
  return position;
};

const unknownCursor = () => invalidField('after', 'cursor', 'is not a cursor of this feed');

export interface FeedPage {
  page: string;
  isEmpty: boolean;
}

/** An event that cannot be read is skipped; the cursor goes past it. */
export const readFeed = async (
  ctx: Context,
  shopId: string,
  start: number | typeof LATEST,
  limit: number,
): Promise<FeedPage> => {
  const after = start === LATEST ? 0 : start;
  const { events, newest } = await readAfter(ctx, shopId, after, start === LATEST ? 0 : limit);
  if (start === LATEST) return { page: pageText(shopId, [], newest, false), isEmpty: true };
  if (after > newest) throw unknownCursor();
  const [first] = events;
  const isExpired = first
    ? first.position !== after + 1 || first.at < ctx.clock.now() - KEPT_MS
    : after < newest;
  if (isExpired) throw new ServiceError('CURSOR_EXPIRED');
  const last = events.at(-1)?.position ?? after;
  return {
    page: pageText(shopId, events.flatMap(itemText(ctx)), last, last < newest),
    isEmpty: events.length === 0,
  };
};

const pageText = (shopId: string, items: string[], last: number, hasMore: boolean): string => {
  const rest = JSON.stringify({ cursor: cursorOf(shopId, last), hasMore });
  return `{"items":[${items.join()}],${rest.slice(1)}`;
};

/**
 * Throws unless the text is an event as every event is written. Damaged text may be JSON all the same, and without fields to
 * stand beside the id it would break the whole page. A name that is not known here may be of a newer version.
 */
const checkBody = (body: string): void => {
  const stored = parseJsonColumn('body', body);
  const texts = [stored?.event, stored?.timestamp, stored?.data?.id];
  const isEvent = texts.every((text) => typeof text === 'string');
  if (!isEvent || !body.startsWith('{"')) throw new Error('the column body does not hold an event');
};

/** The event's own text with its id in front: amounts have more digits than a number could keep. */
const itemText =
  ({ log }: Context) =>
  ({ id, position, body }: FoundEvent): string[] => {
    try {
      checkBody(body);
      return [`{"id":${JSON.stringify(id)},${body.slice(1)}`];
    } catch (error) {
      log.error(
        { list: 'events', key: position, error: describeError(error) },
        'skipped a row that cannot be read',
      );
      return [];
    }
  };

export const forgetOldEvents = (ctx: Pick<Context, 'background'>, nowMs: number): Promise<boolean> =>
  prune(ctx, { table: 'events', by: 'id', upTo: lowestId(nowMs - DELETED_AFTER_MS) });
