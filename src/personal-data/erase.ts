import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { type RefusedReturn, rmaNumber } from '../../contract/common.ts';
import {
  perField,
  perKind,
  perMonthsField,
  RETURN_KINDS,
  RETURN_TABLES,
  type ReturnTable,
} from '../../contract/kinds.ts';
import type { EraseCustomer, Erasure, Forgetting, ForgettingCount } from '../../contract/personal-data.ts';
import { changesBetween, recordShopAudit } from '../audit/store.ts';
import { isLockTimeout } from '../db/database-errors.ts';
import type { Row } from '../db/schema.ts';
import type { Db, Trx, Write } from '../db/types.ts';
import { newId } from '../lib/ids.ts';
import { monthsBefore, toIso } from '../lib/time.ts';
import { viewRow } from '../paging/page-response.ts';
import { ServiceError } from '../platform/errors.ts';
import { warning } from '../platform/log.ts';
import { decideOn } from '../returns/changes/change-queue.ts';
import { writesOf } from '../returns/changes/write.ts';
import type { ReturnServices } from '../returns/services.ts';
import { from, isVisibleTo, type ReturnRow } from '../returns/store.ts';
import type { Caller } from '../shops/plans.ts';
import { findShop, requireShop } from '../shops/store.ts';
import { DROP_REASONS } from '../webhooks/queue.ts';
import { type CustomerMarks, cleanJson, cleanView, erasedColumns, fieldOf } from './erasure-rules.ts';
import {
  type CustomerRow,
  correctedValues,
  entriesOf,
  erasureBlockers,
  eventsOf,
  findReturns,
  isWaiting,
} from './find.ts';

const MOST_A_CALL = 500;
const SHORTEST_REST_MS = 20;
const LONGEST_REST_MS = 100;

interface EraseOptions {
  /** Also erases open returns, and those with a pending webhook, which is dropped. */
  includeOpen: boolean;
  /** Sends no event, because its receiver had it before. */
  isSilent?: boolean;
  /** Writes the audit entry in the same transaction. */
  record?: (trx: Trx, views: string[]) => Promise<void>;
}

/** A return before its erasure, with its timeline, and the time of the erasure. */
interface ErasedReturn {
  kind: ReturnTable;
  before: ReturnRow;
  entries: Row<'timeline'>[];
  at: number;
}

/**
 * Erases a return of a shop completely or not at all, and returns the reason if not: it is blocked, or does not exist. While the
 * transaction lasts, about 2 ms on SQLite and 7 ms on PostgreSQL, no other return of the shop changes and, on SQLite, the event
 * loop is blocked. The pause afterwards is for others: with one as long as the transaction, 1 in 100 creations of another shop took 2.6
 * times as long as without an erasure.
 */
export const eraseReturn = async (
  ctx: ReturnServices,
  caller: Caller,
  { id, kind }: { id: string; kind: ReturnTable },
  { includeOpen, isSilent = false, record }: EraseOptions,
): Promise<RefusedReturn['reason'] | { views: string[] } | 'GONE'> => {
  const erasure = { type: 'erase', id, kind, columns: erasedColumns(kind), isSilent, caller } as const;
  let lockedAt = performance.now();
  const outcome = await ctx.bulk.transaction().execute(async (trx) => {
    const wanted = { ...erasure, nowMs: ctx.clock.now() };
    const { facts, decider, result } = await decideOn(ctx, trx, wanted, 'wait');
    lockedAt = performance.now();
    const before = facts.rows[kind].get(id);
    if (!before || result instanceof ServiceError) return 'GONE';
    const hold = (await erasureBlockers(ctx, trx, before.shop_id, [{ ...before, kind }], includeOpen)).get(
      id,
    );
    if (hold) return hold;
    const [{ at } = { at: 0 }] = decider.entries;
    const erased = { kind, before, entries: await entriesOf(trx, id), at };
    await cleanStored(ctx, trx, erased);
    const views = await cleanViews(ctx, trx, erased);
    for (const write of writesOf(decider)) await execute(ctx, trx, write);
    const listed = trx.insertInto('erasures').values({ subject_id: id, shop_id: before.shop_id, kind, at });
    await listed.onConflict((conflict) => conflict.doNothing()).execute();
    await record?.(trx, views);
    return { result, views };
  });
  if (typeof outcome === 'object') ctx.changes.announce(outcome.result);
  const lockedMs = performance.now() - lockedAt;
  await pause(Math.min(Math.max(lockedMs, SHORTEST_REST_MS), LONGEST_REST_MS));
  return typeof outcome === 'object' ? { views: outcome.views } : outcome;
};

const execute = async (ctx: ReturnServices, trx: Trx, write: Write): Promise<void> => {
  if ('statement' in write) await trx.executeQuery(ctx.fill(write.statement, write.values as never));
  else if ('table' in write) {
    const insertion = trx.insertInto(write.table);
    await insertion.values(write.rows as never).execute();
  } else
    for (const { id, set } of write.rows) {
      const update = trx.updateTable(write.updated as ReturnTable as 'offline_repairs').set(set);
      await update.where('id', '=', id).execute();
    }
};

/** A key is stored with the time of its request, which is also the time of the return's id, with this tolerance. */
const KEY_WITHIN_MS = 10_000;
const timeOfId = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

/** Removes the customer from timeline, events and stored responses. A pending webhook is dropped, since it is never sent in another form. */
const cleanStored = async (ctx: ReturnServices, trx: Trx, { kind, before, entries, at }: ErasedReturn) => {
  const { id, shop_id } = before;
  const clean = (text: string): string => cleanJson(kind, text, toIso(at));
  // Most entries and events do not change, and are not written: on PostgreSQL each statement is a round trip for which the shop's
  // other changes wait.
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
  // The response of a creation begins with the id of its return. The rows are narrowed by time, since a client may have 100,000 keys.
  const { rows } = await sql<Row<'idempotency_keys'>>`
    select owner_id, key, response from idempotency_keys
    where created_at between ${timeOfId(id) - KEY_WITHIN_MS} and ${timeOfId(id) + KEY_WITHIN_MS}
      and substr(response, 1, 44) = ${`{"id":"${id}"`}`.execute(trx);
  for (const { owner_id, key, response } of rows)
    await sql`update idempotency_keys set response = ${clean(response)}
      where owner_id = ${owner_id} and key = ${key}`.execute(trx);
  await trx
    .updateTable('webhook_deliveries')
    .set({ status: 'DROPPED', reason: DROP_REASONS.erased, finished_at: ctx.clock.now() })
    .where(isWaiting(ctx, shop_id, [id]))
    .execute();
};

const customerIdentifiers = ({ before, entries }: ErasedReturn): CustomerMarks => {
  const corrections = entries.filter(({ type }) => type === 'CORRECTED');
  const valuesOf = (column: 'customer_name' | 'customer_email' | 'customer_phone') =>
    [before[column], ...corrections.flatMap(({ data }) => correctedValues(data, fieldOf(column)))].filter(
      (value) => typeof value === 'string' && value !== '',
    ) as string[];
  return {
    names: valuesOf('customer_name'),
    emails: valuesOf('customer_email'),
    phones: valuesOf('customer_phone'),
  };
};

/** Removes the customer from saved views and returns the ids of the changed ones. */
const cleanViews = async (ctx: ReturnServices, trx: Trx, erased: ErasedReturn): Promise<string[]> => {
  const marks = customerIdentifiers(erased);
  const changed: string[] = [];
  const all = trx.selectFrom('saved_views').select(['id', 'name', 'search']);
  for (const view of await all.where('shop_id', '=', erased.before.shop_id).execute()) {
    const list = { name: 'saved_views', view: (row: typeof view) => cleanView(row, marks) };
    const { name, search } = viewRow(ctx, list, view) ?? view;
    if (name === view.name && search === view.search) continue;
    await trx.updateTable('saved_views').set({ name, search }).where('id', '=', view.id).execute();
    changed.push(view.id);
  }
  return changed;
};

// --- one customer ---

const returnRef = ({ id, number }: CustomerRow) => ({ id, rmaNumber: rmaNumber(number) });

/** Erases at most 500 returns of a customer, or counts them. API clients do not see the returns that staff created. */
export const eraseCustomer = async (
  ctx: ReturnServices,
  caller: Caller,
  { reason, includeOpen, dryRun, ...person }: Omit<EraseCustomer, 'reason'> & { reason: string | null },
): Promise<Erasure> => {
  const { shop } = caller;
  const found = await findReturns(ctx, shop.id, person);
  const shown = found.filter((row) => isVisibleTo(caller, { ...row, shop_id: shop.id }));
  const holds = await erasureBlockers(ctx, ctx.scans, shop.id, found, includeOpen);
  const free = found.filter(({ id }) => !holds.has(id));
  const chosen = free.slice(0, MOST_A_CALL);
  const gone = new Set(dryRun ? chosen : []);
  // One entry for the whole call is updated with each return.
  const auditId = newId(ctx.clock.now());
  const views = new Set<string>();
  const record = (trx: Trx, more: string[]): Promise<void> => {
    const data = { reason, returns: gone.size + 1, views: new Set([...views, ...more]).size };
    return recordShopAudit(ctx, trx, caller, 'CUSTOMER_ERASED', data, auditId);
  };
  for (const row of dryRun ? [] : chosen.toReversed()) {
    const outcome = await eraseReturn(ctx, caller, row, { includeOpen, record });
    if (typeof outcome === 'object') {
      gone.add(row);
      for (const id of outcome.views) views.add(id);
    } else if (outcome !== 'GONE') holds.set(row.id, outcome);
  }
  // This runs once, since other shops' creations wait while the WAL is truncated.
  if (gone.size > 0 && !dryRun) await ctx.scrub();
  const held = shown.flatMap((row) => {
    const reason = holds.get(row.id);
    return reason ? { ...returnRef(row), reason } : [];
  });
  const refused = held.slice(0, MOST_A_CALL);
  if (gone.size === 0 && holds.size > 0 && !dryRun) throw new ServiceError('ERASE_REFUSED', { refused });
  return {
    dryRun,
    matched: found.length,
    erased: gone.size,
    returns: shown.filter((row) => gone.has(row)).map(returnRef),
    refused,
    remaining: free.length - chosen.length,
    views: views.size,
  };
};

// --- scheduled erasure: the janitor erases returns some months after their end, if the shop's Admins chose so ---

type Rule = Row<'forget_rules'>;

const rulesOf = (shop_id: string, wanted: Forgetting): Rule[] =>
  RETURN_TABLES.flatMap((kind) => {
    const months = wanted[RETURN_KINDS[kind].monthsField];
    return months === null ? [] : { shop_id, kind, months };
  });

const readRules = (db: Db) => db.selectFrom('forget_rules').select(['shop_id', 'kind', 'months']);

export const readForgetting = async (db: Db, shopId: string): Promise<Forgetting> => {
  const rules = await readRules(db).where('shop_id', '=', shopId).execute();
  return perMonthsField((kind) => rules.find((rule) => rule.kind === kind)?.months ?? null);
};

export const replaceForgetting = (ctx: ReturnServices, caller: Caller, wanted: Forgetting) =>
  ctx.db.transaction().execute(async (trx) => {
    const shop = await requireShop(trx, caller.shop.id);
    const data = changesBetween(await readForgetting(trx, shop.id), wanted);
    if (!data) return wanted;
    await trx.deleteFrom('forget_rules').where('shop_id', '=', shop.id).execute();
    const rules = rulesOf(shop.id, wanted);
    if (rules.length > 0) await trx.insertInto('forget_rules').values(rules).execute();
    await recordShopAudit(ctx, trx, caller, 'FORGETTING_CHANGED', data);
    return wanted;
  });

/** The spelling of statuses is that of the index of forgettable returns. */
const dueBy = (db: Db, { shop_id, kind, months }: Rule, nowMs: number) =>
  from(db, kind)
    .where('shop_id', '=', shop_id)
    .where('status_since', '<=', monthsBefore(nowMs, months))
    .where(
      sql<boolean>`erased_at is null and status in (${sql.join(RETURN_KINDS[kind].erasable.map(sql.lit))})`,
    );

export const countForgettable = async (
  ctx: ReturnServices,
  { shop }: Caller,
  wanted: Forgetting,
): Promise<ForgettingCount> => {
  const counts = perKind(() => 0);
  for (const rule of rulesOf(shop.id, wanted)) {
    const due = dueBy(ctx.scans, rule, ctx.clock.now()).select((eb) => eb.fn.countAll<number>().as('count'));
    counts[rule.kind] = (await due.executeTakeFirstOrThrow()).count;
  }
  return perField((kind) => counts[kind]);
};

const ACTOR = { type: 'SYSTEM', id: null, name: 'Automatic erasure' } as const;

/** The maximum for a shop and kind before the next one. */
const ERASED_A_STEP = 200;

/** Erases the oldest due returns. Returns that fail or have a pending webhook do not block later ones. */
const forgetSome = async (
  ctx: ReturnServices,
  shop: Caller['shop'],
  rule: Rule,
  nowMs: number,
): Promise<number> => {
  const { background: db } = ctx;
  const due = dueBy(db, rule, nowMs).select(['id', 'status']).orderBy('status_since');
  for (let passed = 0; ; passed += ERASED_A_STEP) {
    const some = await due.limit(sql.lit(ERASED_A_STEP)).offset(passed).execute();
    const returns = some.map((row) => ({ ...row, kind: rule.kind }));
    const holds = await erasureBlockers(ctx, db, shop.id, returns);
    let erased = 0;
    for (const each of returns.filter(({ id }) => !holds.has(id)))
      try {
        const outcome = await eraseReturn(ctx, { shop, actor: ACTOR }, each, { includeOpen: false });
        if (typeof outcome === 'object') erased += 1;
      } catch (error) {
        warning(ctx.log, 'a return could not be erased; it will be tried again')(error);
        // Another transaction has locked the shop, whose other returns would wait as long.
        if (isLockTimeout(error)) return erased;
      }
    if (erased > 0 || returns.length < ERASED_A_STEP) return erased;
  }
};

export const forgetEndedReturns = async (ctx: ReturnServices, nowMs: number): Promise<boolean> => {
  let erased = 0;
  for (const rule of await readRules(ctx.background).execute()) {
    const shop = await findShop(ctx.background, rule.shop_id);
    if (shop) erased += await forgetSome(ctx, shop, rule, nowMs);
  }
  return erased > 0;
};
