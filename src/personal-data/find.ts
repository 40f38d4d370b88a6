import { Readable } from 'node:stream';
import { sql } from 'kysely';
import { type RefusedReturn, rmaNumber } from '../../contract/common.ts';
import { ERASABLE_STATUSES } from '../../contract/lifecycle.ts';
import type { CustomerReturn, FindCustomer, FoundCustomer } from '../../contract/personal-data.ts';
import { aboutShop, recordAudit } from '../audit/store.ts';
import type { Db } from '../db/database.ts';
import { type ReturnTable, TIMELINE_COLUMNS } from '../db/schema.ts';
import { lowestId } from '../lib/ids.ts';
import { parseJsonColumn, withExactNumbers } from '../lib/json.ts';
import { toIso } from '../lib/time.ts';
import { viewRow } from '../paging/page-answer.ts';
import { KINDS } from '../returns/changes/decide.ts';
import { from, type ReturnRow, rowsById } from '../returns/store.ts';
import { viewEntry } from '../returns/timeline.ts';
import type { Context } from '../service/context.ts';
import type { Caller } from '../shops/plans.ts';
import { PENDING } from '../webhooks/queue.ts';
import { digitsOfPhone } from './places.ts';

export const TABLES = ['offline_repairs', 'trade_returns'] as const satisfies ReturnTable[];

const COLUMNS = [
  'id',
  'number',
  'status',
  'client_id',
  'customer_name',
  'customer_email',
  'customer_phone',
  'created_at',
] as const;

export type Found = Pick<ReturnRow, (typeof COLUMNS)[number]> & { table: ReturnTable };

/** Whether a value that a return holds, or once held, is the one that is looked for. */
interface Wanted {
  field: 'customerEmail' | 'customerPhone';
  isSame(value: unknown): boolean;
}

const wantedOf = ({ email, phone = '' }: FindCustomer): Wanted => {
  if (email !== undefined) {
    const wanted = email.toLowerCase();
    return {
      field: 'customerEmail',
      isSame: (value) => typeof value === 'string' && value.toLowerCase() === wanted,
    };
  }
  const digits = digitsOfPhone(phone);
  return {
    field: 'customerPhone',
    isSame: (value) => typeof value === 'string' && digitsOfPhone(value) === digits,
  };
};

/** `lower` may know only A to Z: an e-mail in another script is asked for in both cases. */
const spellingsOf = (email: string): string[] => [
  ...new Set([email, email.toLowerCase(), email.toUpperCase()]),
];

/** A shop may have written one phone number into all its returns: so many rows take the event loop about 5 ms. */
const FOUND_AT_ONCE = 2_000;

/**
 * Returns of a table that hold the person now. The text that staff search in ends with the digits of a phone number: 100,000
 * numbers that only contain what is asked for stay in the database.
 */
const holding = async (
  ctx: Context,
  shopId: string,
  table: ReturnTable,
  { field, isSame }: Wanted,
  { email, phone = '' }: FindCustomer,
): Promise<Found[]> => {
  const digits = digitsOfPhone(phone);
  const spellings = spellingsOf(email ?? '').map((spelling) => sql`lower(${spelling})`);
  const isTheirs =
    email === undefined
      ? sql<boolean>`customer_phone is not null and ${ctx.contains('search_text', digits)}
          and (search_text like ${`% ${digits}`} or search_text like ${`% 00${digits}`})`
      : sql<boolean>`lower(customer_email) in (${sql.join(spellings)})`;
  const theirs = from(ctx.scans, table)
    .select(COLUMNS)
    .where('shop_id', '=', shopId)
    .where('erased_at', 'is', null)
    .where(isTheirs)
    // Not by the column itself where an e-mail leads to the rows: SQLite would read the whole shop in its order.
    .orderBy(email === undefined ? sql`number` : sql`number + 0`, 'desc')
    .limit(sql.lit(FOUND_AT_ONCE));
  const found: Found[] = [];
  for (let some = await theirs.execute(); ; ) {
    const theirOwn = some.filter((row) =>
      isSame(field === 'customerEmail' ? row.customer_email : row.customer_phone),
    );
    found.push(...theirOwn.map((row) => ({ ...row, table })));
    if (some.length < FOUND_AT_ONCE) return found;
    some = await theirs.where('number', '<', some.at(-1)?.number as number).execute();
  }
};

/** Returns of a table that held the person before a correction. */
const corrected = async (
  ctx: Context,
  shopId: string,
  table: ReturnTable,
  { field, isSame }: Wanted,
  { email }: FindCustomer,
) => {
  const rows = await from(ctx.scans, table)
    .innerJoin('timeline', 'timeline.rma_id', `${table as 'offline_repairs'}.id`)
    .select([...COLUMNS.map((column) => `${table as 'offline_repairs'}.${column}` as const), 'timeline.data'])
    .where('timeline.type', '=', sql.lit('CORRECTED'))
    .where('shop_id', '=', shopId)
    .where('erased_at', 'is', null)
    .where('timeline.data', 'like', `%${field}%`)
    .$if(email !== undefined, (query) =>
      query.where(ctx.containsAnyCase('timeline.data', JSON.stringify(email).slice(1, -1))),
    )
    .execute();
  return rows.filter(({ data }) => correctedValues(data, field).some(isSame));
};

/** What a field was before and after a correction. */
export const correctedValues = (data: string, field: string): unknown[] => {
  try {
    return Object.values(JSON.parse(data)[field] ?? {});
  } catch {
    return [];
  }
};

/** The returns of both kinds that hold a person, or held them before a correction, and are not erased; newest first. */
export const findReturns = async (ctx: Context, shopId: string, person: FindCustomer): Promise<Found[]> => {
  const wanted = wantedOf(person);
  let found: Found[] = [];
  for (const table of TABLES) {
    const now = await holding(ctx, shopId, table, wanted, person);
    const rows = await corrected(ctx, shopId, table, wanted, person);
    // Those that were corrected several times, or hold the person again, are named once.
    const before = new Map(rows.map((row) => [row.id, { ...row, table }]));
    found = found.concat(
      now.filter(({ id }) => !before.has(id)),
      [...before.values()],
    );
  }
  return found.sort((one, other) => other.number - one.number);
};

/** Why returns are not erased, by id: they are not ended, or a webhook about them is still to be sent. */
export const holdsOf = async (
  { oneOf }: Pick<Context, 'oneOf'>,
  db: Db,
  shopId: string,
  rows: Pick<Found, 'id' | 'status' | 'table'>[],
): Promise<Map<string, RefusedReturn['reason']>> => {
  const ids = rows.map(({ id }) => id);
  const waiting = await db
    .selectFrom('webhook_deliveries')
    .select('rma_id')
    .where('client_id', 'in', (eb) => eb.selectFrom('api_clients').select('id').where('shop_id', '=', shopId))
    .where(sql<boolean>`rma_id ${oneOf('id', ids)}`)
    .where('status', '=', PENDING)
    .execute();
  const holds = new Map(
    waiting.map(({ rma_id }) => [rma_id as string, 'DELIVERY_WAITING' as RefusedReturn['reason']]),
  );
  for (const { id, status, table } of rows)
    if (!(ERASABLE_STATUSES[table] as readonly string[]).includes(status)) holds.set(id, 'OPEN');
  return holds;
};

const kindOf = (table: ReturnTable) => (table === 'offline_repairs' ? 'OFFLINE_REPAIR' : 'TRADE_RETURN');

const SHOWN = 500;

export const findCustomer = async (
  ctx: Context,
  { shop }: Caller,
  person: FindCustomer,
): Promise<FoundCustomer> => {
  const found = await findReturns(ctx, shop.id, person);
  const shown = found.slice(0, SHOWN);
  const holds = await holdsOf(ctx, ctx.scans, shop.id, shown);
  return {
    total: found.length,
    returns: shown.map(
      (row): CustomerReturn => ({
        kind: kindOf(row.table),
        id: row.id,
        rmaNumber: rmaNumber(row.number),
        status: row.status,
        customerName: row.customer_name,
        customerEmail: row.customer_email,
        createdAt: toIso(row.created_at),
        hold: holds.get(row.id) ?? null,
      }),
    ),
  };
};

/**
 * The stored events of some returns. An event has the time of its timeline entry, and ids rise with time: no index by return is
 * needed. The ids are looked up entry by entry: in one join both engines read the whole log, a second for 6,000 events.
 */
export const eventsOf = async (
  { rows, forEachRow, among }: Pick<Context, 'rows' | 'forEachRow' | 'among'>,
  db: Db,
  entries: { rma_id: string; at: number }[],
): Promise<{ id: string; rma_id: string; body: string }[]> => {
  const asked = entries.map(({ rma_id, at }) => ({ rma_id, low: lowestId(at), high: lowestId(at + 1) }));
  const ofEntry = sql`
    select id from events where id >= asked.low and id < asked.high and events.rma_id = asked.rma_id`;
  const ids = sql`
    select own.value from ${rows('asked', { rma_id: 'id', low: 'id', high: 'id' }, asked)}, ${forEachRow('own', ofEntry)}`;
  const found = await sql<{ id: string; rma_id: string; body: string }>`
    select id, rma_id, body from events where id ${among(ids)} order by id`.execute(db);
  return found.rows;
};

export const entriesOf = ({ oneOf }: Pick<Context, 'oneOf'>, db: Db, ids: string[]) =>
  db
    .selectFrom('timeline')
    .select(TIMELINE_COLUMNS)
    .where(sql<boolean>`rma_id ${oneOf('id', ids)}`)
    .orderBy('rma_id')
    .orderBy('at')
    .execute();

const EXPORTED_AT_ONCE = 20;

/** Some returns whole, each as JSON. One that cannot be shown is exported as it is stored. */
const exportSome = async (ctx: Context, some: Found[]): Promise<string[]> => {
  const ids = some.map(({ id }) => id);
  const entries = await entriesOf(ctx, ctx.scans, ids);
  const events = await eventsOf(ctx, ctx.scans, entries);
  const rows = new Map<string, ReturnRow>();
  for (const table of TABLES) {
    const found = await ctx.scans.executeQuery<ReturnRow>(ctx.fill(rowsById(table), { ids }));
    for (const row of found.rows) rows.set(row.id, row);
  }
  const shown = <Part extends { id: string }, View>(
    name: string,
    parts: Part[],
    view: (part: Part) => View,
  ) => parts.flatMap((part) => viewRow(ctx, { name, view }, part) ?? []);
  const own = <Part extends { rma_id: string }>(parts: Part[], id: string) =>
    parts.filter(({ rma_id }) => rma_id === id);
  return some.flatMap(({ id, table }) => {
    const row = rows.get(id);
    if (!row) return [];
    const [whole] = shown(table, [row], KINDS[table].view);
    return JSON.stringify({
      kind: kindOf(table),
      return: whole ?? row,
      timeline: shown('timeline', own(entries, id), viewEntry),
      events: shown('events', own(events, id), ({ body }) => parseJsonColumn('body', body, withExactNumbers)),
    });
  });
};

async function* exportAll(ctx: Context, found: Found[]): AsyncGenerator<string> {
  yield `{"exportedAt":${JSON.stringify(toIso(ctx.clock.now()))},"returns":[`;
  let separator = '';
  for (let first = 0; first < found.length; first += EXPORTED_AT_ONCE)
    for (const text of await exportSome(ctx, found.slice(first, first + EXPORTED_AT_ONCE))) {
      yield separator + text;
      separator = ',';
    }
  yield ']}';
}

/** One JSON document, a few returns at a time. */
export const exportCustomer = async (
  ctx: Context,
  { shop, actor }: Caller,
  person: FindCustomer,
): Promise<Readable> => {
  const found = await findReturns(ctx, shop.id, person);
  await ctx.db.transaction().execute((trx) =>
    recordAudit(trx, {
      ...aboutShop(shop),
      at: ctx.clock.now(),
      actor,
      action: 'CUSTOMER_EXPORTED',
      data: { count: found.length },
    }),
  );
  return Readable.from(exportAll(ctx, found), { objectMode: false });
};
