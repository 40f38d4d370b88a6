import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { type RefusedReturn, rmaNumber } from '../../contract/common.ts';
import type { EraseCustomer, Erasure } from '../../contract/personal-data.ts';
import { aboutShop, recordAudit, updateAuditData } from '../audit/store.ts';
import type { Trx } from '../db/database.ts';
import type { RmaTableName, Row } from '../db/schema.ts';
import { buildEvent } from '../events/event.ts';
import { newId } from '../lib/ids.ts';
import { toIso } from '../lib/time.ts';
import { viewRow } from '../paging/page-answer.ts';
import { entryOf, KINDS, totalChanges } from '../returns/changes/decide.ts';
import { searchText } from '../returns/search.ts';
import { isVisibleTo, type ReturnRow, rowsById } from '../returns/store.ts';
import { saveTotals } from '../returns/totals.ts';
import type { Context } from '../service/context.ts';
import { ServiceError } from '../service/errors.ts';
import { type Counter, lockCounter, nextTimestamp } from '../shops/counters.ts';
import type { Caller } from '../shops/plans.ts';
import { deliveryOf, selectReachable } from '../webhooks/outbox.ts';
import { DROPPED_BECAUSE } from '../webhooks/queue.ts';
import {
  type CustomerRow,
  correctedValues,
  entriesOf,
  eventsOf,
  findReturns,
  holdsOf,
  isWaiting,
} from './find.ts';
import { cleanJson, cleanView, erasedColumns, fieldOf } from './places.ts';

const MOST_A_CALL = 500;
const LONGEST_PAUSE_MS = 100;

interface EraseOptions {
  /** Also a return that is open, or about which a webhook waits; that is dropped. */
  includeOpen: boolean;
  /** No event: its receiver had it before. */
  isSilent?: boolean;
  /** Written in the same transaction. */
  record?: ((trx: Trx) => Promise<void>) | undefined;
}

/** One transaction: the return as it was and as it is then, with its timeline. */
interface ErasingReturn {
  ctx: Context;
  trx: Trx;
  caller: Caller;
  counter: Counter;
  kind: RmaTableName;
  before: ReturnRow;
  erased: ReturnRow;
  entries: Row<'timeline'>[];
}

/**
 * Erases a return of a shop, whole or not at all. Returns why it was not: it is held, or there is none that could be. While the
 * transaction lasts, about 2 ms on SQLite and 7 ms on PostgreSQL, no other return of the shop changes and, on SQLite, the event
 * loop stands still: others then have as long for themselves.
 */
export const eraseReturn = async (
  ctx: Context,
  caller: Caller,
  { id, kind }: { id: string; kind: RmaTableName },
  { includeOpen, isSilent = false, record }: EraseOptions,
): Promise<RefusedReturn['reason'] | 'ERASED' | 'GONE'> => {
  const { shop } = caller;
  let receiver: string | null = null;
  let lockedAt = performance.now();
  const outcome = await ctx.bulk.transaction().execute(async (trx) => {
    const counter = await lockCounter(ctx, trx, shop.id);
    lockedAt = performance.now();
    const { rows } = await trx.executeQuery<ReturnRow>(ctx.fill(rowsById(kind), { ids: [id] }));
    const [before] = rows;
    if (before?.shop_id !== shop.id || before.erased_at !== null) return 'GONE';
    const holds = includeOpen ? new Map() : await holdsOf(ctx, trx, shop.id, [{ ...before, kind }]);
    if (holds.has(id)) return holds.get(id);
    const at = nextTimestamp(counter, Math.max(ctx.clock.now(), before.updated_at + 1));
    const erased = { ...before, ...erasedColumns(kind), updated_at: at, erased_at: at } as ReturnRow;
    const erasing = { ctx, trx, caller, counter, kind, before, erased, entries: await entriesOf(trx, id) };
    await cleanStored(erasing);
    await cleanViews(erasing);
    await writeRow(erasing);
    if (!isSilent) receiver = await addEvent(erasing);
    const { last_at, last_position } = counter;
    const counters = trx.updateTable('shop_counters').set({ last_at, last_position });
    await counters.where('shop_id', '=', shop.id).execute();
    await record?.(trx);
    return 'ERASED';
  });
  if (receiver) ctx.wake('deliveries', receiver);
  if (outcome === 'ERASED' && !isSilent) ctx.wake('events', shop.id);
  await pause(Math.min(performance.now() - lockedAt, LONGEST_PAUSE_MS));
  return outcome;
};

const writeRow = async ({ ctx, trx, caller, kind, before, erased }: ErasingReturn): Promise<void> => {
  const { id, shop_id, updated_at: at } = erased;
  const search_text = searchText(erased, KINDS[kind].searchedIn(erased));
  const set = Object.entries({ ...erasedColumns(kind), search_text, updated_at: at, erased_at: at });
  const values = set.map(([column, value]) => sql`${sql.id(column)} = ${value}`);
  await sql`update ${sql.table(kind)} set ${sql.join(values)} where id = ${id}`.execute(trx);
  const entry = entryOf(caller, erased, erased, { entry: 'ERASED', note: null, data: {} });
  await trx.insertInto('timeline').values(entry).execute();
  const listed = trx.insertInto('erasures').values({ subject_id: id, shop_id, kind, at });
  await listed.onConflict((conflict) => conflict.doNothing()).execute();
  for (const { statement, values } of saveTotals(totalChanges(kind, before, erased)))
    await trx.executeQuery(ctx.fill(statement, values as never));
};

/** A key is stored with the time of its request, at which the id of the return is created, too. */
const KEY_WITHIN_MS = 10_000;
const timeOfId = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

/** Timeline, events and answers without the customer. A webhook that waits is dropped: it is never sent in another form. */
const cleanStored = async ({ ctx, trx, caller, kind, erased, entries }: ErasingReturn): Promise<void> => {
  const { id, updated_at } = erased;
  const clean = (text: string): string => cleanJson(kind, text, toIso(updated_at));
  // Most entries and events are left as they are: on PostgreSQL each statement is a round trip, and the shop's other changes wait.
  for (const entry of entries) {
    const data = clean(entry.data);
    const own = sql`rma_id = ${id} and at = ${entry.at}`;
    if (entry.note !== null || data !== entry.data)
      await sql`update timeline set note = null, data = ${data} where ${own}`.execute(trx);
    for (const event of await eventsOf(trx, entry)) {
      const body = clean(event.body);
      if (body !== event.body)
        await sql`update events set body = ${body} where id = ${event.id}`.execute(trx);
    }
  }
  // The answer of a creation begins with the id of its return. Found by time alone: a client may have 100,000 keys.
  const { rows } = await sql<Row<'idempotency_keys'>>`
    select client_id, key, answer from idempotency_keys
    where created_at between ${timeOfId(id) - KEY_WITHIN_MS} and ${timeOfId(id) + KEY_WITHIN_MS}
      and substr(answer, 1, 44) = ${`{"id":"${id}"`}`.execute(trx);
  for (const { client_id, key, answer } of rows)
    await sql`update idempotency_keys set answer = ${clean(answer)}
      where client_id = ${client_id} and key = ${key}`.execute(trx);
  await trx
    .updateTable('webhook_deliveries')
    .set({ status: 'DROPPED', reason: DROPPED_BECAUSE.erased, finished_at: ctx.clock.now() })
    .where(isWaiting(ctx, caller.shop.id, [id]))
    .execute();
};

/** What the customer is known by, now and before corrections. */
const marksOf = ({ before, entries }: ErasingReturn): string[] => {
  const columns = ['customer_name', 'customer_email', 'customer_phone', 'tracking_number'];
  const corrections = entries.filter(({ type }) => type === 'CORRECTED');
  const marks = columns.flatMap((column) => [
    Reflect.get(before, column),
    ...corrections.flatMap(({ data }) => correctedValues(data, fieldOf(column))),
  ]);
  return marks.filter((mark) => typeof mark === 'string' && mark !== '');
};

const cleanViews = async (erasing: ErasingReturn): Promise<void> => {
  const { ctx, trx, caller } = erasing;
  const marks = marksOf(erasing);
  const all = trx.selectFrom('saved_views').select(['id', 'name', 'search']);
  for (const view of await all.where('shop_id', '=', caller.shop.id).execute()) {
    const list = { name: 'saved_views', view: (row: typeof view) => cleanView(row, marks) };
    const { name, search } = viewRow(ctx, list, view) ?? view;
    if (name !== view.name || search !== view.search)
      await trx.updateTable('saved_views').set({ name, search }).where('id', '=', view.id).execute();
  }
};

/** The event of the erasure, in the log and to the client that chose it. Returns which client that is. */
const addEvent = async ({
  ctx,
  trx,
  caller,
  counter,
  kind,
  erased,
}: ErasingReturn): Promise<string | null> => {
  const { client_id: creatorId, updated_at: at } = erased;
  // API clients do not see a return that staff created.
  if (creatorId === null) return null;
  const { shop } = caller;
  const asked = { shopIds: [shop.id], creatorIds: [creatorId], repairIds: [], tradeReturnIds: [] };
  const { rows: reachable } = await trx.executeQuery(ctx.fill(selectReachable, asked));
  const name = kind === 'offline_repairs' ? 'offline_repair.erased' : 'trade_return.erased';
  const event = buildEvent(counter, erased, at, { name, data: { erasedAt: toIso(at) } });
  await trx.insertInto('events').values(event).execute();
  const delivery = deliveryOf(shop, creatorId, event, reachable);
  if (delivery) await trx.insertInto('webhook_deliveries').values(delivery).execute();
  return delivery?.client_id ?? null;
};

// --- one customer ---

const nameOf = ({ id, number }: CustomerRow) => ({ id, rmaNumber: rmaNumber(number) });

type EraseRequest = Pick<EraseCustomer, 'email' | 'phone' | 'includeOpen' | 'dryRun'> & {
  reason: string | null;
};

/** Erases at most 500 returns of a customer, or counts them. Programs are not shown the returns that staff created. */
export const eraseCustomer = async (
  ctx: Context,
  caller: Caller,
  { reason, includeOpen, dryRun, ...person }: EraseRequest,
): Promise<Erasure> => {
  const { shop, actor } = caller;
  const found = await findReturns(ctx, shop.id, person);
  const shown = found.filter((row) => isVisibleTo(caller, { ...row, shop_id: shop.id }));
  const holds = includeOpen ? new Map() : await holdsOf(ctx, ctx.scans, shop.id, found);
  const free = found.filter(({ id }) => !holds.has(id));
  const chosen = free.slice(0, MOST_A_CALL);
  const gone = new Set(dryRun ? chosen : []);
  // One entry for the whole call, which counts with each return.
  const auditId = newId(ctx.clock.now());
  const record = (trx: Trx): Promise<void> => {
    const data = { reason, returns: gone.size + 1 };
    const entry = {
      ...aboutShop(shop),
      at: ctx.clock.now(),
      actor,
      action: 'CUSTOMER_ERASED',
      data,
    } as const;
    return gone.size === 0 ? recordAudit(trx, entry, auditId) : updateAuditData(trx, auditId, data);
  };
  for (const row of dryRun ? [] : chosen.toReversed()) {
    const outcome = await eraseReturn(ctx, caller, row, { includeOpen, record });
    if (outcome === 'ERASED') gone.add(row);
    else if (outcome !== 'GONE') holds.set(row.id, outcome);
  }
  // Once: other shops' creations wait while the log is emptied.
  if (gone.size > 0 && !dryRun) await ctx.scrub();
  const held = shown.filter(({ id }) => holds.has(id)).slice(0, MOST_A_CALL);
  const refused = held.map((row) => ({ ...nameOf(row), reason: holds.get(row.id) }));
  if (gone.size === 0 && holds.size > 0 && !dryRun) throw new ServiceError('ERASE_REFUSED', { refused });
  return {
    dryRun,
    matched: found.length,
    erased: gone.size,
    returns: shown.filter((row) => gone.has(row)).map(nameOf),
    refused,
    remaining: free.length - chosen.length,
  };
};
