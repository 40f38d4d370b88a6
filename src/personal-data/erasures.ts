import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { isId } from '../../contract/common.ts';
import { RETURN_TABLES, type ReturnTable } from '../../contract/kinds.ts';
import { ERASED_TEXT, type FormerEmployee } from '../../contract/personal-data.ts';
import { OPERATOR, recordAudit } from '../audit/store.ts';
import type { Row } from '../db/schema.ts';
import type { Db, Trx } from '../db/types.ts';
import { toIso } from '../lib/time.ts';
import type { Core } from '../platform/core.ts';
import { ServiceError } from '../platform/errors.ts';
import { warning } from '../platform/log.ts';
import { LONGEST_CHANGE_MS } from '../returns/assignees.ts';
import type { ReturnServices } from '../returns/services.ts';
import { beginShopDeletion, deleteShopStep } from '../shops/delete-shop.ts';
import type { Caller } from '../shops/plans.ts';
import { DELETING, findShop } from '../shops/store.ts';
import { DROP_REASONS, PENDING } from '../webhooks/queue.ts';
import { eraseReturn } from './erase.ts';

// The list of erased ids. Erasures that take many steps are unfinished for a while: the names of former employees, and the
// deletion of shops. A restored backup lacks later erasures: these are added as unfinished and done again.

export const ListedErasure = z.object({
  subject_id: z.uuid(),
  shop_id: z.uuid(),
  kind: z.enum([...RETURN_TABLES, 'users', 'shops']),
  at: z.int(),
});
export type ListedErasure = z.infer<typeof ListedErasure>;

const NOT_BEGUN = '00000000-0000-0000-0000-000000000000';
const BEGUN = '00000000-0000-0000-0000-000000000001';

const ADDED_AT_ONCE = 1_000;

/** Adds the missing erasures in the caller's transaction. `finishErasures` completes them, and drops webhooks about them until then. */
export const addErasures = async (db: Db, list: ListedErasure[]): Promise<void> => {
  for (let first = 0; first < list.length; first += ADDED_AT_ONCE) {
    const some = list.slice(first, first + ADDED_AT_ONCE).map((row) => ({ ...row, progress: NOT_BEGUN }));
    const insertion = db.insertInto('erasures').values(some);
    await insertion.onConflict((conflict) => conflict.doNothing()).execute();
  }
  const drop = { status: 'DROPPED', reason: DROP_REASONS.erased, finished_at: Date.now() } as const;
  const listed = db.selectFrom('erasures').select('subject_id').where('progress', 'is not', null);
  const waiting = db.updateTable('webhook_deliveries').set(drop).where('status', '=', PENDING);
  await waiting.where('rma_id', 'in', listed).execute();
  await db.deleteFrom('installation').where('name', '=', 'restored-without-erasures').execute();
};

/** Returns the names of the shops and users in a list that this database still has. */
export const existingSubjects = async (db: Db, list: ListedErasure[]): Promise<string[]> => {
  const idsOf = (kind: ListedErasure['kind']) =>
    list.filter((each) => each.kind === kind).map(({ subject_id }) => subject_id);
  const found: string[] = [];
  for (const id of idsOf('shops')) {
    const shop = await db.selectFrom('shops').select('name').where('id', '=', id).executeTakeFirst();
    if (shop) found.push(`the shop ${shop.name} (${id})`);
  }
  for (const id of idsOf('users')) {
    const user = await db.selectFrom('users').select('email').where('id', '=', id).executeTakeFirst();
    if (user) found.push(`the account ${user.email} (${id})`);
  }
  return found;
};

const isIn = (table: ReturnTable) => sql`exists (select 1 from ${sql.table(table)} where id = subject_id)`;

/** Counts unfinished erasures, and how many of them are about unknown returns. */
export const countUnfinished = async (db: Db): Promise<{ unfinished: number; unknown: number }> => {
  const { rows } = await sql<{ unfinished: number; unknown: number }>`
    select count(*) as unfinished,
      count(case when kind not in ('users', 'shops') and not (${sql.join(RETURN_TABLES.map(isIn), sql` or `)}) then 1 end) as unknown
    from erasures where progress is not null`.execute(db);
  return { unfinished: Number(rows[0]?.unfinished), unknown: Number(rows[0]?.unknown) };
};

/** Leaves out users who were removed just now: a change that they made before may not have ended. */
const unfinishedErasures = (db: Db, nowMs: number) => {
  const justRemoved = sql`select user_id from removed_users where removed_at > ${nowMs - LONGEST_CHANGE_MS}`;
  return db
    .selectFrom('erasures')
    .select(['subject_id', 'shop_id', 'kind', 'progress', 'failures'])
    .where(sql<boolean>`progress is not null and subject_id not in (${justRemoved})`);
};

const FINISHED_AT_ONCE = 10;

/**
 * Runs some steps of unfinished erasures, first of those that never failed; true if more are left. A failed one is retried in
 * the next sweep. A shop that is being deleted takes many steps and does not delay other shops' erasures; its own end with it.
 */
export const finishErasures = async (ctx: ReturnServices): Promise<boolean> => {
  const { background } = ctx;
  const deleting = background.selectFrom('shops').select('id').where('subscription', '=', DELETING);
  const some = unfinishedErasures(background, ctx.clock.now())
    .orderBy('failures')
    .orderBy('subject_id')
    .limit(sql.lit(FINISHED_AT_ONCE));
  const shops = await some.where('kind', '=', 'shops').where('subject_id', 'in', deleting).execute();
  const others = await some.where('shop_id', 'not in', deleting).execute();
  let isMoreLeft = false;
  for (const erasure of [...shops, ...others])
    try {
      await continueErasure(ctx, erasure);
      isMoreLeft = true;
    } catch (error) {
      isMoreLeft ||= erasure.failures === 0;
      await countErasureFailure(ctx, erasure.subject_id);
      warning(ctx.log, 'an erasure failed; it will be tried again')(error);
    }
  return isMoreLeft;
};

/** Counts a failure, so that erasures with fewer failures come first. */
const countErasureFailure = async ({ background, metrics }: Core, id: string): Promise<void> => {
  metrics.failedErasures.inc();
  await background
    .updateTable('erasures')
    .set((eb) => ({ failures: eb('failures', '+', 1) }))
    .where('subject_id', '=', id)
    .execute();
};

const continueErasure = async (
  ctx: ReturnServices,
  { subject_id: id, shop_id, kind }: Pick<Row<'erasures'>, 'subject_id' | 'shop_id' | 'kind'>,
): Promise<void> => {
  if (kind === 'shops') {
    await beginShopDeletion(ctx, id);
    await deleteShopStep(ctx, id);
  } else if (kind === 'users') await eraseEmployeeStep(ctx, id);
  else {
    const shop = await findShop(ctx.background, shop_id);
    // It sends no events, since their receivers had them before.
    const how = { includeOpen: true, isSilent: true };
    if (shop) await eraseReturn(ctx, { shop, actor: OPERATOR }, { id, kind }, how);
    await setProgress(ctx.background, id, null);
  }
};

const setProgress = async (db: Db, id: string, progress: string | null): Promise<void> => {
  await db.updateTable('erasures').set({ progress }).where('subject_id', '=', id).execute();
};

// --- former employees: the names of removed users, in timelines and in the audit log ---

const MOST_LISTED = 100;

export const listFormerEmployees = async (ctx: ReturnServices, { shop }: Caller) => {
  const { rows } = await sql<Pick<FormerEmployee, 'id' | 'email'> & { at: number; progress: string | null }>`
    select removal.subject_id as id, subject_name as email, removal.at, progress
    from audit_log as removal left join erasures on erasures.subject_id = removal.subject_id
    where removal.shop_id = ${shop.id} and action = 'USER_REMOVED' and (erasures.at is null or progress is not null)
    order by removal.id desc limit ${sql.lit(MOST_LISTED)}`.execute(ctx.scans);
  const items = rows.map(({ at, progress, ...person }) => ({
    ...person,
    removedAt: toIso(at),
    erasing: progress !== null,
  }));
  return { items };
};

/** The response waits for this many steps; the janitor does the others. */
const STEPS_AT_ONCE = 20;

export const eraseFormerEmployee = async (
  ctx: ReturnServices,
  { shop, actor }: Caller,
  id: string,
  data: { reason: string },
): Promise<void> => {
  const removals = ctx.db.selectFrom('audit_log').select('id').where('action', '=', 'USER_REMOVED');
  const removal = removals.where('shop_id', '=', shop.id).where('subject_id', '=', id);
  if (!isId(id) || !(await removal.executeTakeFirst())) throw new ServiceError('FORMER_EMPLOYEE_NOT_FOUND');
  const at = ctx.clock.now();
  await ctx.db.transaction().execute(async (trx) => {
    const { numInsertedOrUpdatedRows } = await trx
      .insertInto('erasures')
      .values({ subject_id: id, shop_id: shop.id, kind: 'users', at, progress: NOT_BEGUN })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow();
    const subject = { type: 'USER', id, name: ERASED_TEXT } as const;
    const entry = { shopId: shop.id, at, actor, action: 'FORMER_EMPLOYEE_ERASED', subject, data } as const;
    if (numInsertedOrUpdatedRows) await recordAudit(trx, entry);
  });
  for (let step = 0; step < STEPS_AT_ONCE; step++) if (!(await eraseEmployeeStep(ctx, id))) return;
};

/** Erases up to 800 timeline entries of each type; the first step also changes the audit log. True if more are left. */
export const eraseEmployeeStep = (ctx: ReturnServices, id: string): Promise<boolean> =>
  ctx.background.transaction().execute(async (trx) => {
    const own = unfinishedErasures(trx, ctx.clock.now()).where('subject_id', '=', id);
    const erasure = await own.forUpdate().executeTakeFirst();
    if (!erasure?.progress) return false;
    if (erasure.progress === NOT_BEGUN) {
      // Such a list must not lock out a shop. The erasure stays unfinished until the shop has another Admin.
      if (await isOnlyAdmin(trx, id)) throw new Error('the only Admin of a shop is not removed');
      await eraseAccount(trx, id, erasure.shop_id);
    }
    const isMoreLeft = await eraseInTimelines(trx, id);
    await setProgress(trx, id, isMoreLeft ? BEGUN : null);
    return isMoreLeft;
  });

const isOnlyAdmin = async (trx: Trx, id: string): Promise<boolean> => {
  const admins = trx.selectFrom('users').select('id').where('role', '=', 'ADMIN');
  const own = trx.selectFrom('users').select('shop_id').where('id', '=', id).where('role', '=', 'ADMIN');
  const ofShop = await admins.where('shop_id', 'in', own).limit(2).execute();
  return ofShop.length === 1;
};

/** Erases the user from the audit log, and deletes the account, which an older backup may contain. No change of theirs is running. */
const eraseAccount = async (trx: Trx, id: string, shop_id: string): Promise<void> => {
  const { numDeletedRows } = await trx
    .deleteFrom('users')
    .where('id', '=', id)
    .where('shop_id', '=', shop_id)
    .executeTakeFirstOrThrow();
  const removed = trx.insertInto('removed_users').values({ user_id: id, shop_id, removed_at: 0 });
  if (numDeletedRows > 0n) await removed.execute();
  await sql`
    update audit_log set
      actor_name = case when actor_id = ${id} then ${ERASED_TEXT} else actor_name end,
      address = case when actor_id = ${id} then null else address end,
      subject_name = case when subject_id = ${id} then ${ERASED_TEXT} else subject_name end,
      data = case when subject_id = ${id} and (data like '%"email":%' or data like '%"name":%') then '{}' else data end
    where subject_id = ${id} or actor_id = ${id}`.execute(trx);
};

const ENTRIES_AT_ONCE = 800;

/** Erases the name in timelines. Partial indexes on actors and assignees contain the entries that are not erased. True if more are left. */
const eraseInTimelines = async (trx: Trx, id: string): Promise<boolean> => {
  const acted = sql`actor_type = 'USER' and actor_name <> '[erased]' and actor_id = ${id}`;
  const assigned = sql`type = 'ASSIGNED' and substr(data, 70) <> '[erased]"}' and substr(data, 16, 36) = ${id}`;
  const data = JSON.stringify({ assigneeId: id, assigneeName: ERASED_TEXT });
  const erase = async (set: RawBuilder<unknown>, theirs: RawBuilder<unknown>): Promise<boolean> => {
    const { numAffectedRows = 0n } = await sql`
      update timeline set ${set} where (rma_id, at) in (
        select rma_id, at from timeline where ${theirs} limit ${sql.lit(ENTRIES_AT_ONCE)})`.execute(trx);
    return numAffectedRows === BigInt(ENTRIES_AT_ONCE);
  };
  const isMoreActed = await erase(sql`actor_name = ${ERASED_TEXT}`, acted);
  const isMoreAssigned = await erase(sql`data = ${data}`, assigned);
  return isMoreActed || isMoreAssigned;
};
