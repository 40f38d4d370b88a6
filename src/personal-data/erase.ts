import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { type RefusedReturn, rmaNumber } from '../../contract/common.ts';
import type { EraseCustomer, Erasure } from '../../contract/personal-data.ts';
import { type AuditRecord, aboutShop, recordAudit } from '../audit/store.ts';
import type { Trx } from '../db/database.ts';
import type { ReturnTable, Row, Tables } from '../db/schema.ts';
import { buildEvent } from '../events/event.ts';
import { toIso } from '../lib/time.ts';
import { viewRow } from '../paging/page-answer.ts';
import { entryOf, KINDS } from '../returns/changes/decide.ts';
import { searchText } from '../returns/search.ts';
import { isVisibleTo, type ReturnRow, rowsById } from '../returns/store.ts';
import type { Context } from '../service/context.ts';
import { ServiceError } from '../service/errors.ts';
import { type Counter, lockCounter, nextTimestamp } from '../shops/counters.ts';
import type { Caller } from '../shops/plans.ts';
import { deliveryOf, selectReachable } from '../webhooks/outbox.ts';
import { DROPPED_BECAUSE } from '../webhooks/queue.ts';
import {
  correctedValues,
  entriesOf,
  eventsOf,
  type Found,
  findReturns,
  holdsOf,
  isWaiting,
  TABLES,
} from './find.ts';
import { cleanJson, cleanView, erasedColumns, fieldOf } from './places.ts';

/** In one transaction, during which no other return of the shop changes and, on SQLite, the event loop stands still: about 3 ms. */
export const ERASED_AT_ONCE = 10;
const MOST_A_CALL = 500;

type Held = ReturnRow & { kind: ReturnTable };

interface EraseOptions {
  /** Also returns that are open, or about which a webhook waits; that is dropped. */
  includeOpen: boolean;
  /** No events: their receivers had them before. */
  isSilent?: boolean;
  /** Written in the same transaction. */
  audit?: AuditRecord | undefined;
}

/** One transaction: the returns as they were and as they are then, with their timelines. */
interface Work {
  ctx: Context;
  trx: Trx;
  caller: Caller;
  counter: Counter;
  before: Held[];
  erased: Map<string, Held>;
  entries: Row<'timeline'>[];
}

/** Erases some returns of a shop, each whole or not at all. Those that are gone or erased already are passed over. */
export const eraseReturns = async (
  ctx: Context,
  caller: Caller,
  ids: string[],
  { includeOpen, isSilent = false, audit }: EraseOptions,
): Promise<{ erased: string[]; refused: Map<string, RefusedReturn['reason']> }> => {
  const { shop } = caller;
  const outcome = await ctx.db.transaction().execute(async (trx) => {
    const counter = await lockCounter(ctx, trx, shop.id);
    const rows = await readRows(ctx, trx, shop.id, ids);
    const refused = includeOpen ? new Map() : await holdsOf(ctx, trx, shop.id, rows);
    const before = rows.filter(({ id }) => !refused.has(id));
    const erased = new Map(before.map((row) => [row.id, eraseRow(ctx, counter, row)]));
    if (erased.size === 0) return { erased: [], refused, receivers: [] };
    const entries = await entriesOf(ctx, trx, [...erased.keys()]);
    const work = { ctx, trx, caller, counter, before, erased, entries };
    await cleanStored(work);
    await cleanViews(work);
    await writeRows(work);
    const receivers = isSilent ? [] : await addEvents(work);
    const counted = { shop_id: 'id', last_position: 'integer', last_at: 'integer' } as const;
    await rewrite(work, 'shop_counters', ['shop_id'], counted, [counter]);
    if (audit) await recordAudit(trx, audit);
    return { erased: [...erased.keys()], refused, receivers };
  });
  for (const receiver of new Set(outcome.receivers)) ctx.wake('deliveries', receiver);
  if (outcome.erased.length > 0 && !isSilent) ctx.wake('events', shop.id);
  return outcome;
};

const readRows = async (ctx: Context, trx: Trx, shopId: string, ids: string[]): Promise<Held[]> => {
  const held: Held[] = [];
  for (const kind of TABLES) {
    const { rows } = await trx.executeQuery<ReturnRow>(ctx.fill(rowsById(kind), { ids }));
    const own = rows.filter(({ shop_id, erased_at }) => shop_id === shopId && erased_at === null);
    held.push(...own.map((row) => ({ ...row, kind })));
  }
  return held;
};

const eraseRow = ({ clock }: Context, counter: Counter, row: Held): Held => {
  const at = nextTimestamp(counter, Math.max(clock.now(), row.updated_at + 1));
  return { ...row, ...erasedColumns(row.kind), updated_at: at, erased_at: at } as Held;
};

/** One statement, whatever the number of rows: on PostgreSQL each is a round trip, during which the shop's other changes wait. */
const rewrite = async (
  { ctx, trx }: Work,
  table: keyof Tables,
  keys: string[],
  columns: Record<string, 'id' | 'integer' | 'text'>,
  changed: object[],
): Promise<void> => {
  const isKey = (name: string) => sql`${sql.ref(`${table}.${name}`)} = ${sql.ref(`changed.${name}`)}`;
  const values = Object.keys(columns).filter((name) => !keys.includes(name));
  const set = values.map((name) => sql`${sql.id(name)} = ${sql.ref(`changed.${name}`)}`);
  if (changed.length > 0)
    await sql`
      update ${sql.table(table)} set ${sql.join(set)} from ${ctx.rows('changed', columns, changed)}
      where ${sql.join(keys.map(isKey), sql` and `)}`.execute(trx);
};

const writeRows = async (work: Work): Promise<void> => {
  const { trx, caller } = work;
  const erased = [...work.erased.values()];
  for (const table of TABLES) {
    const texts = Object.keys(erasedColumns(table)).map((column) => [column, 'text' as const]);
    const times = { updated_at: 'integer', erased_at: 'integer' } as const;
    const columns = { id: 'id', search_text: 'text', ...times, ...Object.fromEntries(texts) } as const;
    const own = erased.filter((row) => row.kind === table);
    const rows = own.map((row) => ({ ...row, search_text: searchText(row, KINDS[table].searchedIn(row)) }));
    await rewrite(work, table, ['id'], columns, rows);
  }
  const entry = { entry: 'ERASED', note: null, data: {} } as const;
  const entries = erased.map((row) => entryOf(caller, row, row, entry));
  await trx.insertInto('timeline').values(entries).execute();
  const listed = erased.map(({ id, shop_id, kind, updated_at: at }) => ({
    subject_id: id,
    shop_id,
    kind,
    at,
  }));
  const insertion = trx.insertInto('erasures').values(listed);
  await insertion.onConflict((conflict) => conflict.doNothing()).execute();
};

/** A key is stored with the time of its request, at which the id of the return is created, too. */
const KEY_WITHIN_MS = 10_000;
const timeOfId = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

/** The answer of a creation begins with the id of its return. Found by time alone: a client may have 100,000 keys. */
const answersOf = async (trx: Trx, id: string) => {
  const [from, to] = [timeOfId(id) - KEY_WITHIN_MS, timeOfId(id) + KEY_WITHIN_MS];
  const { rows } = await sql<Pick<Row<'idempotency_keys'>, 'client_id' | 'key' | 'answer'>>`
    select client_id, key, answer from idempotency_keys
    where created_at between ${from} and ${to} and substr(answer, 1, 44) = ${`{"id":"${id}"`}`.execute(trx);
  return rows;
};

/** Timelines, events and answers without the customers. A webhook that waits is dropped: it is never sent in another form. */
const cleanStored = async (work: Work): Promise<void> => {
  const { ctx, trx, caller, erased, entries } = work;
  const clean = (id: string, text: string): string => {
    const { kind, updated_at } = erased.get(id) as Held;
    return cleanJson(kind, text, toIso(updated_at));
  };
  const lines = entries.map((line) => ({ ...line, note: null, data: clean(line.rma_id, line.data) }));
  const lineColumns = { rma_id: 'id', at: 'integer', note: 'text', data: 'text' } as const;
  await rewrite(work, 'timeline', ['rma_id', 'at'], lineColumns, lines);
  const events = await eventsOf(ctx, trx, entries);
  const bodies = events.map(({ id, rma_id, body }) => ({ id, body: clean(rma_id, body) }));
  await rewrite(work, 'events', ['id'], { id: 'id', body: 'text' }, bodies);
  const answers: object[] = [];
  for (const id of erased.keys())
    for (const kept of await answersOf(trx, id)) answers.push({ ...kept, answer: clean(id, kept.answer) });
  const answerColumns = { client_id: 'id', key: 'text', answer: 'text' } as const;
  await rewrite(work, 'idempotency_keys', ['client_id', 'key'], answerColumns, answers);
  await trx
    .updateTable('webhook_deliveries')
    .set({ status: 'DROPPED', reason: DROPPED_BECAUSE.erased, finished_at: ctx.clock.now() })
    .where(isWaiting(ctx, caller.shop.id, [...erased.keys()]))
    .execute();
};

/** What the customers are known by, now and before corrections. */
const marksOf = ({ before, entries }: Work): string[] => {
  const columns = ['customer_name', 'customer_email', 'customer_phone', 'tracking_number'];
  const now = before.flatMap((row) => columns.map((column) => Reflect.get(row, column)));
  const corrections = entries.filter(({ type }) => type === 'CORRECTED');
  const former = columns.flatMap((column) =>
    corrections.flatMap(({ data }) => correctedValues(data, fieldOf(column))),
  );
  return [...new Set([...now, ...former])].filter((mark) => typeof mark === 'string' && mark !== '');
};

const cleanViews = async (work: Work): Promise<void> => {
  const { ctx, trx, caller } = work;
  const marks = marksOf(work);
  const all = trx.selectFrom('saved_views').select(['id', 'name', 'search']);
  for (const view of await all.where('shop_id', '=', caller.shop.id).execute()) {
    const list = { name: 'saved_views', view: (row: typeof view) => cleanView(row, marks) };
    const { name, search } = viewRow(ctx, list, view) ?? view;
    if (name !== view.name || search !== view.search)
      await trx.updateTable('saved_views').set({ name, search }).where('id', '=', view.id).execute();
  }
};

const EVENT_NAMES = {
  offline_repairs: 'offline_repair.erased',
  trade_returns: 'trade_return.erased',
} as const;

/** The event of each erasure, in the log and to the client that chose it. Returns which clients something waits for. */
const addEvents = async ({ ctx, trx, caller: { shop }, counter, erased }: Work): Promise<string[]> => {
  // API clients do not see a return that staff created.
  const rows = [...erased.values()].flatMap(({ client_id: creatorId, ...row }) =>
    creatorId === null ? [] : { ...row, creatorId },
  );
  if (rows.length === 0) return [];
  const creatorIds = rows.map(({ creatorId }) => creatorId);
  const asked = { shopIds: [shop.id], creatorIds, repairIds: [], tradeReturnIds: [] };
  const { rows: reachable } = await trx.executeQuery(ctx.fill(selectReachable, asked));
  const events = rows.map((row) => {
    const data = { erasedAt: toIso(row.updated_at) };
    return buildEvent(counter, row, row.updated_at, { name: EVENT_NAMES[row.kind], data });
  });
  await trx.insertInto('events').values(events).execute();
  const deliveries = events.flatMap(
    (event, i) => deliveryOf(shop, creatorIds[i] ?? '', event, reachable) ?? [],
  );
  if (deliveries.length > 0) await trx.insertInto('webhook_deliveries').values(deliveries).execute();
  return deliveries.map(({ client_id }) => client_id);
};

// --- one customer ---

const nameOf = ({ id, number }: Found) => ({ id, rmaNumber: rmaNumber(number) });

type Asked = Pick<EraseCustomer, 'email' | 'phone' | 'includeOpen' | 'dryRun'> & { reason: string | null };

/** Erases at most 500 returns of a customer, or counts them. Programs are not shown the returns that staff created. */
export const eraseCustomer = async (
  ctx: Context,
  caller: Caller,
  { reason, includeOpen, dryRun, ...person }: Asked,
): Promise<Erasure> => {
  const { shop, actor } = caller;
  const found = await findReturns(ctx, shop.id, person);
  const shown = found.filter((row) => isVisibleTo(caller, { ...row, shop_id: shop.id }));
  const holds = includeOpen ? new Map() : await holdsOf(ctx, ctx.scans, shop.id, found);
  const free = found.filter(({ id }) => !holds.has(id)).map(({ id }) => id);
  const chosen = free.slice(0, MOST_A_CALL);
  const gone = new Set(dryRun ? chosen : []);
  // One entry for the whole call, with its first returns.
  const data = { reason, returns: chosen.length };
  const audit = { ...aboutShop(shop), at: ctx.clock.now(), actor, action: 'CUSTOMER_ERASED', data } as const;
  for (let first = 0; !dryRun && first < chosen.length; first += ERASED_AT_ONCE) {
    const options = { includeOpen, audit: gone.size === 0 ? audit : undefined };
    const some = chosen.slice(first, first + ERASED_AT_ONCE);
    const { erased, refused } = await eraseReturns(ctx, caller, some, options);
    for (const id of erased) gone.add(id);
    for (const [id, why] of refused) holds.set(id, why);
    // Other requests go in between.
    await nextTurn();
  }
  if (gone.size > 0 && !dryRun) await ctx.scrub();
  const held = shown.filter(({ id }) => holds.has(id)).slice(0, MOST_A_CALL);
  const refused = held.map((row) => ({ ...nameOf(row), reason: holds.get(row.id) }));
  if (gone.size === 0 && holds.size > 0 && !dryRun) throw new ServiceError('ERASE_REFUSED', { refused });
  return {
    dryRun,
    matched: found.length,
    erased: gone.size,
    returns: shown.filter(({ id }) => gone.has(id)).map(nameOf),
    refused,
    remaining: free.length - chosen.length,
  };
};
