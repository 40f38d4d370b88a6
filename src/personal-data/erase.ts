import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { type RefusedReturn, rmaNumber } from '../../contract/common.ts';
import type { EraseCustomer, Erasure } from '../../contract/personal-data.ts';
import { aboutShop, recordAudit } from '../audit/store.ts';
import type { Trx } from '../db/database.ts';
import type { ReturnTable, Row } from '../db/schema.ts';
import { buildEvent, type Event, type LoggedEvent } from '../events/event.ts';
import { toIso } from '../lib/time.ts';
import { viewRow } from '../paging/page-answer.ts';
import { entryOf, KINDS, totalChanges } from '../returns/changes/decide.ts';
import { searchText } from '../returns/search.ts';
import { type ReturnRow, rowsById } from '../returns/store.ts';
import { saveTotals } from '../returns/totals.ts';
import type { Context } from '../service/context.ts';
import { ServiceError } from '../service/errors.ts';
import { type Counter, lockCounter, nextTimestamp, saveCounter } from '../shops/counters.ts';
import type { Caller } from '../shops/plans.ts';
import { deliveryOf, selectReachable } from '../webhooks/outbox.ts';
import { DROPPED_BECAUSE, PENDING } from '../webhooks/queue.ts';
import { correctedValues, entriesOf, eventsOf, type Found, findReturns, holdsOf, TABLES } from './find.ts';
import { cleanJson, cleanView, erasedColumns } from './places.ts';

/** In one transaction, during which no other return of the shop changes and, on SQLite, the event loop stands still: about 3 ms. */
export const ERASED_AT_ONCE = 5;
/** As many times as long as a transaction took, others have their turn before the next. */
const PAUSED_TIMES = 2;
const LONGEST_PAUSE_MS = 100;
/** Fewer than make SQLite write its log back by itself, in the middle of a request. */
const SCRUBBED_AT_ONCE = 100;
const MOST_A_CALL = 500;

type Held = ReturnRow & { table: ReturnTable };

export interface EraseOptions {
  /** Also returns that are open, or about which a webhook waits; that is dropped. */
  includeOpen: boolean;
  /** No events: their receivers had them before. */
  isSilent?: boolean;
  /** Written in the same transaction. */
  record?: (trx: Trx) => Promise<void>;
}

interface Outcome {
  erased: Held[];
  refused: Map<string, RefusedReturn['reason']>;
}

/** Erases some returns of a shop, each whole or not at all. Those that are gone or erased already are passed over. */
export const eraseReturns = async (
  ctx: Context,
  caller: Caller,
  ids: string[],
  { includeOpen, isSilent = false, record }: EraseOptions,
): Promise<Outcome> => {
  const { shop } = caller;
  const receivers = new Set<string>();
  let lockedAt = performance.now();
  const outcome = await ctx.bulk.transaction().execute(async (trx): Promise<Outcome> => {
    const counter = await lockCounter(ctx, trx, shop.id);
    lockedAt = performance.now();
    const rows = await readRows(ctx, trx, shop.id, ids);
    const refused = includeOpen ? new Map() : await holdsOf(ctx, trx, shop.id, rows);
    const held = rows.filter(({ id }) => !refused.has(id));
    if (held.length === 0) return { erased: [], refused };
    const erased = held.map((row) => eraseRow(ctx, counter, row));
    const entries = await entriesOf(
      ctx,
      trx,
      held.map(({ id }) => id),
    );
    const clean = cleanerOf(erased);
    await cleanEntries(ctx, trx, clean, entries);
    await cleanEvents(ctx, trx, clean, entries);
    await cleanAnswers(trx, clean, erased);
    await cleanViews(ctx, trx, shop.id, marksOf(held, entries));
    await dropDeliveries(ctx, trx, shop.id, erased);
    await writeRows(ctx, trx, caller, erased);
    const totals = held.flatMap((row, i) => totalChanges(row.table, row, erased[i] as Held));
    for (const { statement, values } of saveTotals(totals))
      await trx.executeQuery(ctx.fill(statement, values as never));
    if (!isSilent) for (const id of await tell(ctx, trx, caller, counter, erased)) receivers.add(id);
    await saveCounter(ctx, trx, counter);
    await record?.(trx);
    return { erased, refused };
  });
  for (const receiver of receivers) ctx.wake('deliveries', receiver);
  if (outcome.erased.length > 0 && !isSilent) ctx.wake('events', shop.id);
  await pause(Math.min(PAUSED_TIMES * (performance.now() - lockedAt), LONGEST_PAUSE_MS));
  return outcome;
};

const readRows = async (ctx: Context, trx: Trx, shopId: string, ids: string[]): Promise<Held[]> => {
  const held: Held[] = [];
  for (const table of TABLES) {
    const { rows } = await trx.executeQuery<ReturnRow>(ctx.fill(rowsById(table), { ids }));
    const own = rows.filter(({ shop_id, erased_at }) => shop_id === shopId && erased_at === null);
    held.push(...own.map((row) => ({ ...row, table })));
  }
  return held;
};

const eraseRow = ({ clock }: Context, counter: Counter, row: Held): Held => {
  const at = nextTimestamp(counter, Math.max(clock.now(), row.updated_at + 1));
  return { ...row, ...erasedColumns(row.table), updated_at: at, erased_at: at } as Held;
};

/** Few statements, whatever the number of returns: on PostgreSQL each is a round trip, during which the shop's other changes wait. */
const writeRows = async (
  { rows }: Context,
  trx: Trx,
  { actor }: Pick<Caller, 'actor'>,
  erased: Held[],
): Promise<void> => {
  for (const table of TABLES) {
    const own = erased.filter((row) => row.table === table);
    const columns = Object.entries(erasedColumns(table)).map(
      ([name, value]) => sql`${sql.id(name)} = ${value}`,
    );
    const changed = own.map((row) => ({
      id: row.id,
      search_text: searchText(row, KINDS[table].searchedIn(row)),
      at: row.updated_at,
    }));
    if (own.length > 0)
      await sql`
        update ${sql.table(table)} set ${sql.join(columns)}, search_text = changed.search_text,
          updated_at = changed.at, erased_at = changed.at
        from ${rows('changed', { id: 'id', search_text: 'text', at: 'integer' }, changed)}
        where ${sql.table(table)}.id = changed.id`.execute(trx);
  }
  const entries = erased.map((row) =>
    entryOf({ actor }, row, row, { entry: 'ERASED', note: null, data: {} }),
  );
  await trx.insertInto('timeline').values(entries).execute();
  const listed = erased.map(({ id, shop_id, table, updated_at }) => ({
    subject_id: id,
    shop_id,
    kind: table,
    at: updated_at,
  }));
  await trx
    .insertInto('erasures')
    .values(listed)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
};

type Clean = (id: string, text: string) => string;

/** What a JSON text about one of these returns is without the customer. */
const cleanerOf = (erased: Held[]): Clean => {
  const rows = new Map(erased.map((row) => [row.id, row]));
  return (id, text) => {
    const { table, updated_at } = rows.get(id) as Held;
    return cleanJson(table, text, toIso(updated_at));
  };
};

const cleanEntries = async (
  { rows }: Context,
  trx: Trx,
  clean: Clean,
  entries: Row<'timeline'>[],
): Promise<void> => {
  const cleaned = entries.map(({ rma_id, at, data }) => ({ rma_id, at, data: clean(rma_id, data) }));
  await sql`
    update timeline set note = null, data = cleaned.data
    from ${rows('cleaned', { rma_id: 'id', at: 'integer', data: 'text' }, cleaned)}
    where timeline.rma_id = cleaned.rma_id and timeline.at = cleaned.at`.execute(trx);
};

const cleanEvents = async (
  ctx: Context,
  trx: Trx,
  clean: Clean,
  entries: Row<'timeline'>[],
): Promise<void> => {
  const events = await eventsOf(ctx, trx, entries);
  const cleaned = events.map(({ id, rma_id, body }) => ({ id, body: clean(rma_id, body) }));
  await sql`
    update events set body = cleaned.body
    from ${ctx.rows('cleaned', { id: 'id', body: 'text' }, cleaned)}
    where events.id = cleaned.id`.execute(trx);
};

/** A key is stored with the time of its request, at which the id of the return is created, too. */
const KEY_WITHIN_MS = 10_000;

/** The answer of a creation begins with the id of its return. Found by time alone: a client may have 100,000 keys. */
const cleanAnswers = async (trx: Trx, clean: Clean, erased: Held[]): Promise<void> => {
  const ofOne = ({ id }: Held) => sql`
    created_at between ${timeOfId(id) - KEY_WITHIN_MS} and ${timeOfId(id) + KEY_WITHIN_MS}
      and substr(answer, 8, 36) = ${id}`;
  const { rows } = await sql<Pick<Row<'idempotency_keys'>, 'client_id' | 'key' | 'answer'>>`
    select client_id, key, answer from idempotency_keys
    where ${sql.join(erased.map(ofOne), sql` or `)}`.execute(trx);
  for (const { client_id, key, answer } of rows)
    await sql`
      update idempotency_keys set answer = ${clean(answer.slice(7, 43), answer)}
      where client_id = ${client_id} and key = ${key}`.execute(trx);
};

const timeOfId = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

/** What the customers are known by, now and before corrections. */
const marksOf = (held: Held[], entries: Row<'timeline'>[]): string[] => {
  const now = held.flatMap((row) => [
    row.customer_name,
    row.customer_email,
    row.customer_phone,
    Reflect.get(row, 'tracking_number'),
  ]);
  const former = entries
    .filter(({ type }) => type === 'CORRECTED')
    .flatMap(({ data }) =>
      ['customerName', 'customerEmail', 'customerPhone'].flatMap((field) => correctedValues(data, field)),
    );
  return [...new Set([...now, ...former])].filter((mark): mark is string => Boolean(mark));
};

const cleanViews = async (ctx: Context, trx: Trx, shopId: string, marks: string[]): Promise<void> => {
  const views = await trx
    .selectFrom('saved_views')
    .select(['id', 'name', 'search'])
    .where('shop_id', '=', shopId)
    .execute();
  for (const view of views) {
    const list = { name: 'saved_views', view: (row: typeof view) => cleanView(row, marks) };
    const { name, search } = viewRow(ctx, list, view) ?? view;
    if (name !== view.name || search !== view.search)
      await trx.updateTable('saved_views').set({ name, search }).where('id', '=', view.id).execute();
  }
};

/** Never sent in another form. */
const dropDeliveries = async (
  { oneOf, clock }: Context,
  trx: Trx,
  shopId: string,
  erased: Held[],
): Promise<void> => {
  const ids = erased.map(({ id }) => id);
  await trx
    .updateTable('webhook_deliveries')
    .set({ status: 'DROPPED', reason: DROPPED_BECAUSE.erased, finished_at: clock.now() })
    .where('client_id', 'in', (eb) => eb.selectFrom('api_clients').select('id').where('shop_id', '=', shopId))
    .where(sql<boolean>`rma_id ${oneOf('id', ids)}`)
    .where('status', '=', PENDING)
    .execute();
};

/** The event of each erasure, in the log and to the client that chose it. Returns which clients something waits for. */
const tell = async (
  ctx: Context,
  trx: Trx,
  { shop }: Caller,
  counter: Counter,
  erased: Held[],
): Promise<string[]> => {
  const visible = erased.filter((row): row is Held & { client_id: string } => row.client_id !== null);
  const creatorIds = visible.map(({ client_id }) => client_id);
  const asked = { shopIds: [shop.id], creatorIds, repairIds: [], tradeReturnIds: [] };
  const { rows: reachable } = await trx.executeQuery(ctx.fill(selectReachable, asked));
  const events: LoggedEvent[] = [];
  const deliveries = visible.flatMap((row) => {
    const name = KINDS[row.table].events.erased;
    const data = { erasedAt: toIso(row.updated_at) };
    const event = buildEvent(counter, row, row.updated_at, { name, data } as Event);
    events.push(event);
    return deliveryOf(shop, row.client_id, event, reachable) ?? [];
  });
  if (events.length > 0) await trx.insertInto('events').values(events).execute();
  if (deliveries.length > 0) await trx.insertInto('webhook_deliveries').values(deliveries).execute();
  return deliveries.map(({ client_id }) => client_id);
};

// --- one customer ---

const nameOf = ({ id, number }: Pick<Found, 'id' | 'number'>) => ({ id, rmaNumber: rmaNumber(number) });

const refusedOf = (found: Found[], holds: Map<string, RefusedReturn['reason']>): RefusedReturn[] =>
  found
    .flatMap((row) => {
      const reason = holds.get(row.id);
      return reason ? { ...nameOf(row), reason } : [];
    })
    .slice(0, MOST_A_CALL);

type Asked = Pick<EraseCustomer, 'email' | 'phone' | 'includeOpen' | 'dryRun'> & { reason: string | null };

/** Erases at most 500 returns of a customer, or counts them. Programs are not shown the returns that staff created. */
export const eraseCustomer = async (
  ctx: Context,
  caller: Caller,
  { reason, includeOpen, dryRun, ...person }: Asked,
): Promise<Erasure> => {
  const { shop, actor } = caller;
  const found = await findReturns(ctx, shop.id, person);
  const isShown = ({ client_id }: Found) => actor.type !== 'API_CLIENT' || client_id !== null;
  const holds = includeOpen ? new Map() : await holdsOf(ctx, ctx.scans, shop.id, found);
  const free = found.filter(({ id }) => !holds.has(id));
  const chosen = free.slice(0, MOST_A_CALL);
  const gone = dryRun ? new Set(chosen.map(({ id }) => id)) : new Set<string>();
  // One entry for the whole call, with its first returns.
  const data = { reason, returns: chosen.length };
  const record = (trx: Trx) =>
    recordAudit(trx, { ...aboutShop(shop), at: ctx.clock.now(), actor, action: 'CUSTOMER_ERASED', data });
  for (let first = 0; !dryRun && first < chosen.length; first += ERASED_AT_ONCE) {
    const ids = chosen.slice(first, first + ERASED_AT_ONCE).map(({ id }) => id);
    const options = { includeOpen, ...(gone.size === 0 ? { record } : {}) };
    const { erased, refused } = await eraseReturns(ctx, caller, ids, options);
    for (const { id } of erased) gone.add(id);
    for (const [id, why] of refused) holds.set(id, why);
    const last = first + ERASED_AT_ONCE;
    if (last % SCRUBBED_AT_ONCE === 0 || last >= chosen.length) await ctx.scrub();
  }
  const refused = refusedOf(found.filter(isShown), holds);
  if (found.length > 0 && gone.size === 0 && holds.size > 0 && !dryRun)
    throw new ServiceError('ERASE_REFUSED', { refused });
  return {
    dryRun,
    matched: found.length,
    erased: gone.size,
    returns: found.filter((row) => gone.has(row.id) && isShown(row)).map(nameOf),
    refused,
    remaining: free.length - chosen.length,
  };
};
