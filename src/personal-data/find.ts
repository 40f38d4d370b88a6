import { Readable } from 'node:stream';
import { type RawBuilder, sql } from 'kysely';
import type { RefusedReturn } from '../../contract/common.ts';
import { RETURN_KINDS, RETURN_TABLES, type ReturnTable } from '../../contract/kinds.ts';
import type { FindCustomer, FoundCustomer } from '../../contract/personal-data.ts';
import { recordShopAudit } from '../audit/store.ts';
import { TIMELINE_COLUMNS } from '../db/schema.ts';
import type { Db } from '../db/types.ts';
import { lowestId } from '../lib/ids.ts';
import { parseJsonColumn, withExactNumbers } from '../lib/json.ts';
import { toIso } from '../lib/time.ts';
import type { Core } from '../platform/core.ts';
import { describeError } from '../platform/log.ts';
import { KINDS } from '../returns/kinds/kinds.ts';
import { emailSpellings } from '../returns/search-text.ts';
import type { ReturnServices } from '../returns/services.ts';
import { briefOf, prefetchRow, type ReturnRow } from '../returns/store.ts';
import { viewTimelineEntry } from '../returns/timeline.ts';
import { viewWaitingForStaff } from '../returns/waiting.ts';
import type { Caller } from '../shops/plans.ts';
import { PENDING } from '../webhooks/queue.ts';
import { digitsOfPhone } from './erasure-rules.ts';

const CUSTOMER_COLUMNS = sql.raw(
  'rma.id, rma.number, rma.status, rma.receiver_id, customer_name, customer_email, customer_phone, created_at',
);
type CustomerColumn = 'id' | 'number' | 'status' | 'receiver_id' | 'created_at';
export type CustomerRow = Pick<ReturnRow, CustomerColumn | `customer_${'name' | 'email' | 'phone'}`> & {
  kind: ReturnTable;
};

const matchesEmail = ({ oneOf }: Core, email: string): RawBuilder<boolean> =>
  sql`lower(customer_email) ${oneOf('text', emailSpellings(email))}`;

/** The search text ends with the digits of the phone number, which excludes longer numbers already in the database. */
const matchesPhone = (ctx: ReturnServices, digits: string): RawBuilder<boolean> =>
  sql`customer_phone is not null and ${ctx.contains('search_text', digits)}
    and (search_text like ${`% ${digits}`} or search_text like ${`% 00${digits}`})`;

type WithCorrection = CustomerRow & { data: string };

export const correctedValues = (data: string, field: string): unknown[] => {
  try {
    return Object.values(JSON.parse(data)[field] ?? {});
  } catch {
    return [];
  }
};

/** The maximum of rows, which take the event loop about 5 ms: a shop may have entered one phone number in all its returns. */
const FOUND_AT_ONCE = 2_000;

/** Finds the returns of all kinds with a customer, now or before a correction, that are not erased; newest first. */
export const findReturns = async (
  ctx: ReturnServices,
  shopId: string,
  { email, phone = '' }: FindCustomer,
): Promise<CustomerRow[]> => {
  const isEmail = email !== undefined;
  const field = isEmail ? 'customerEmail' : 'customerPhone';
  const normal = (value: string): string =>
    isEmail ? value.normalize().toLowerCase() : digitsOfPhone(value);
  const wanted = normal(email ?? phone);
  const own = sql`shop_id = ${shopId} and erased_at is null`;
  const holds = isEmail ? matchesEmail(ctx, email) : matchesPhone(ctx, wanted);
  const isPlain = email?.normalize('NFD') === email;
  const held =
    isEmail && isPlain ? ctx.containsAnyCase('data', JSON.stringify(email).slice(1, -1)) : sql`true`;
  // For an email it sorts by an expression; with the column, SQLite would scan the whole shop in its order.
  const order = isEmail ? sql`number + 0` : sql`number`;
  const found = new Map<string, CustomerRow>();
  for (const table of RETURN_TABLES) {
    const rma = sql`${sql.table(table)} as rma`;
    const take = (rows: WithCorrection[]): void => {
      for (const { data, ...row } of rows) {
        const values = [isEmail ? row.customer_email : row.customer_phone, ...correctedValues(data, field)];
        if (values.some((value) => typeof value === 'string' && normal(value) === wanted))
          found.set(row.id, { ...row, kind: table });
      }
    };
    for (let before = Number.MAX_SAFE_INTEGER, isMoreLeft = true; isMoreLeft; ) {
      const { rows } = await sql<WithCorrection>`
        select ${CUSTOMER_COLUMNS}, '{}' as data from ${rma} where ${own} and ${holds} and number < ${before}
        order by ${order} desc limit ${sql.lit(FOUND_AT_ONCE)}`.execute(ctx.scans);
      take(rows);
      before = rows.at(-1)?.number ?? 0;
      isMoreLeft = rows.length === FOUND_AT_ONCE;
    }
    const { rows } = await sql<WithCorrection>`
      select ${CUSTOMER_COLUMNS}, data from ${rma} join timeline on timeline.rma_id = rma.id
      where ${own} and type = 'CORRECTED' and data like ${`%${field}%`} and ${held}`.execute(ctx.scans);
    take(rows);
  }
  return [...found.values()].sort((one, other) => other.number - one.number);
};

export const isWaiting = ({ oneOf }: Core, shopId: string, ids: string[]): RawBuilder<boolean> => sql`
  receiver_id in (select receiver_id from api_clients where shop_id = ${shopId})
  and rma_id ${oneOf('id', ids)} and status = ${PENDING}`;

/** Returns by id why returns are not erased: they are open, or have a pending webhook. With `isForced` neither counts. */
export const erasureBlockers = async (
  ctx: ReturnServices,
  db: Db,
  shopId: string,
  rows: Pick<CustomerRow, 'id' | 'status' | 'kind'>[],
  isForced = false,
): Promise<Map<string, RefusedReturn['reason']>> => {
  const holds = new Map<string, RefusedReturn['reason']>();
  if (isForced) return holds;
  const ids = rows.map(({ id }) => id);
  const deliveries = db.selectFrom('webhook_deliveries').select('rma_id');
  const waiting = await deliveries.where(isWaiting(ctx, shopId, ids)).execute();
  for (const { rma_id } of waiting) if (rma_id) holds.set(rma_id, 'DELIVERY_WAITING');
  for (const { id, status, kind } of rows)
    if (!(RETURN_KINDS[kind].erasable as readonly string[]).includes(status)) holds.set(id, 'OPEN');
  return holds;
};

const MOST_SHOWN = 500;

export const findCustomer = async (
  ctx: ReturnServices,
  { shop }: Caller,
  person: FindCustomer,
): Promise<FoundCustomer> => {
  const found = await findReturns(ctx, shop.id, person);
  const shown = found.slice(0, MOST_SHOWN);
  const holds = await erasureBlockers(ctx, ctx.scans, shop.id, shown);
  const returns = shown.map((row) => ({
    ...briefOf(row.kind, row),
    customerEmail: row.customer_email,
    createdAt: toIso(row.created_at),
    hold: holds.get(row.id) ?? null,
  }));
  return { total: found.length, returns };
};

// --- the data of a return ---

export const entriesOf = (db: Db, id: string) =>
  db.selectFrom('timeline').select(TIMELINE_COLUMNS).where('rma_id', '=', id).orderBy('at').execute();

/** The events of a timeline entry. They have the entry's time, and ids increase with time, so no index by return is needed. */
export const eventsOf = (db: Db, { rma_id, at }: { rma_id: string; at: number }) => {
  const own = db.selectFrom('events').select(['id', 'body']).where('rma_id', '=', rma_id);
  return own
    .where('id', '>=', lowestId(at))
    .where('id', '<', lowestId(at + 1))
    .execute();
};

/** Exports a complete return. A damaged part is exported as it is stored. */
const exportReturn = async (ctx: ReturnServices, { id, kind }: CustomerRow) => {
  const shown = <Part extends { id: string }>(name: string, part: Part, view: (part: Part) => unknown) => {
    try {
      return view(part);
    } catch (error) {
      const reason = `${name} ${part.id}`;
      ctx.log.error(
        { reason, error: describeError(error) },
        'exported as it is stored, since it cannot be read',
      );
      return part;
    }
  };
  const row = await prefetchRow(ctx, kind, id);
  const whole = (each: ReturnRow) => ({ ...KINDS[kind].view(each), waitingFor: viewWaitingForStaff(each) });
  const timeline: unknown[] = [];
  const events: unknown[] = [];
  for (const entry of await entriesOf(ctx.scans, id)) {
    timeline.push(shown('timeline', entry, viewTimelineEntry));
    for (const event of await eventsOf(ctx.scans, entry))
      events.push(shown('events', event, ({ body }) => parseJsonColumn('body', body, withExactNumbers)));
  }
  return { kind: RETURN_KINDS[kind].name, return: row && shown(kind, row, whole), timeline, events };
};

async function* exportAll(ctx: ReturnServices, found: CustomerRow[]): AsyncGenerator<string> {
  yield `{"exportedAt":"${toIso(ctx.clock.now())}","returns":[`;
  for (const [i, each] of found.entries())
    yield (i > 0 ? ',' : '') + JSON.stringify(await exportReturn(ctx, each));
  yield ']}';
}

export const exportCustomer = async (
  ctx: ReturnServices,
  caller: Caller,
  person: FindCustomer,
): Promise<Readable> => {
  const found = await findReturns(ctx, caller.shop.id, person);
  await recordShopAudit(ctx, ctx.db, caller, 'CUSTOMER_EXPORTED', { count: found.length });
  return Readable.from(exportAll(ctx, found), { objectMode: false });
};
