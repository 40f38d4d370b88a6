import { sql } from 'kysely';
import { isId } from '../../contract/common.ts';
import { ERASED_TEXT, type FormerEmployee } from '../../contract/personal-data.ts';
import { recordAudit } from '../audit/store.ts';
import type { Db, Trx } from '../db/database.ts';
import type { Row } from '../db/schema.ts';
import { toIso } from '../lib/time.ts';
import { LONGEST_CHANGE_MS, queueUnassignment } from '../returns/people.ts';
import type { Context } from '../service/context.ts';
import { ServiceError } from '../service/errors.ts';
import type { Caller } from '../shops/plans.ts';

// The names of removed users, in timelines and in the audit log.

const SHOWN = 100;

export const listFormerEmployees = async (ctx: Context, { shop }: Caller) => {
  const rows = await ctx.scans
    .selectFrom('audit_log as removal')
    .where('removal.shop_id', '=', shop.id)
    .where('action', '=', 'USER_REMOVED')
    .leftJoin('erasures as erasure', 'erasure.subject_id', 'removal.subject_id')
    .select(['removal.subject_id as id', 'subject_name', 'removal.at', 'done_to'])
    .where((eb) => eb.or([eb('erasure.at', 'is', null), eb('done_to', 'is not', null)]))
    .orderBy('removal.id', 'desc')
    .limit(SHOWN)
    .execute();
  const items = rows.map(
    ({ id, subject_name: email, at, done_to }): FormerEmployee => ({
      id,
      email,
      removedAt: toIso(at),
      erasing: done_to !== null,
    }),
  );
  return { items };
};

/** `done_to` of what has not begun. */
export const NOT_BEGUN = '00000000-0000-0000-0000-000000000000';

/** Without people who were removed just now: a change that they made before may not have ended. */
export const unfinishedErasures = (db: Db, nowMs: number) =>
  db
    .selectFrom('erasures')
    .select(['subject_id', 'shop_id', 'kind', 'done_to'])
    .where('done_to', 'is not', null)
    .where('subject_id', 'not in', (eb) =>
      eb
        .selectFrom('departed_people')
        .select('user_id')
        .where('left_at', '>', nowMs - LONGEST_CHANGE_MS),
    );

/** So many steps are done before the answer; the janitor does the others, also those after one that failed. */
const STEPS_AT_ONCE = 20;

export const eraseFormerEmployee = async (
  ctx: Context,
  { shop, actor }: Caller,
  id: string,
  { reason }: { reason: string },
): Promise<void> => {
  const entries = ctx.db.selectFrom('audit_log').select('shop_id').where('action', '=', 'USER_REMOVED');
  const removal = isId(id) ? await entries.where('subject_id', '=', id).executeTakeFirst() : undefined;
  if (removal?.shop_id !== shop.id) throw new ServiceError('FORMER_EMPLOYEE_NOT_FOUND');
  const at = ctx.clock.now();
  await ctx.db.transaction().execute(async (trx) => {
    const { numInsertedOrUpdatedRows } = await trx
      .insertInto('erasures')
      .values({ subject_id: id, shop_id: shop.id, kind: 'users', at, done_to: NOT_BEGUN })
      .onConflict((conflict) => conflict.column('subject_id').doNothing())
      .executeTakeFirstOrThrow();
    const subject = { type: 'USER', id, name: ERASED_TEXT } as const;
    const entry = { shopId: shop.id, at, actor, action: 'FORMER_EMPLOYEE_ERASED', subject } as const;
    if (numInsertedOrUpdatedRows) await recordAudit(trx, { ...entry, data: { reason } });
  });
  for (let step = 0; step < STEPS_AT_ONCE; step++) if (!(await eraseEmployeeStep(ctx, id))) return;
};

/** One step of about 1,000 entries; true when more is left. */
export const eraseEmployeeStep = async (ctx: Context, id: string): Promise<boolean> => {
  const isMoreLeft = await ctx.background.transaction().execute(async (trx) => {
    const all = unfinishedErasures(trx, ctx.clock.now());
    const erasure = await all.where('subject_id', '=', id).forUpdate().executeTakeFirst();
    if (!erasure || erasure.done_to === null) return false;
    if (erasure.done_to === NOT_BEGUN) {
      await removeRestored(trx, erasure);
      if (await eraseInAudit(ctx, trx, id)) return true;
    }
    const done_to = await eraseInTimelines(trx, id, erasure.done_to);
    await trx.updateTable('erasures').set({ done_to }).where('subject_id', '=', id).execute();
    return done_to !== null;
  });
  if (!isMoreLeft) await ctx.scrub();
  return isMoreLeft;
};

/** A backup from before they were removed has their account; no change of theirs is running. */
const removeRestored = async (
  trx: Trx,
  { subject_id: id, shop_id }: Pick<Row<'erasures'>, 'subject_id' | 'shop_id'>,
): Promise<void> => {
  const { numDeletedRows } = await trx.deleteFrom('users').where('id', '=', id).executeTakeFirstOrThrow();
  if (numDeletedRows > 0n) await queueUnassignment(trx, { id, shop_id }, 0);
};

const AUDIT_ENTRIES_AT_ONCE = 200;

/** Some of their entries; false when none is left. */
const eraseInAudit = async ({ among }: Context, trx: Trx, id: string): Promise<boolean> => {
  const some = sql`
    select id from audit_log where subject_id = ${id} and subject_name <> ${ERASED_TEXT}
    union all select id from audit_log where actor_id = ${id} and actor_name <> ${ERASED_TEXT}
    limit ${sql.lit(AUDIT_ENTRIES_AT_ONCE)}`;
  const { numAffectedRows = 0n } = await sql`
    update audit_log set
      actor_name = case when actor_id = ${id} then ${ERASED_TEXT} else actor_name end,
      address = case when actor_id = ${id} then null else address end,
      subject_name = case when subject_id = ${id} then ${ERASED_TEXT} else subject_name end,
      data = case when subject_id = ${id} and (data like '%"email":%' or data like '%"name":%') then '{}' else data end
    where id ${among(some)}`.execute(trx);
  return numAffectedRows > 0n;
};

const TIMELINE_ENTRIES_AT_ONCE = 1_000;

/** The entries of the RMAs after this one, of all shops; returns the last of these RMAs, or null when there are no more. */
const eraseInTimelines = async (trx: Trx, id: string, after: string): Promise<string | null> => {
  const rows = trx.selectFrom('timeline').where('rma_id', '>', after);
  const thousandth = await rows
    .select('rma_id')
    .orderBy('rma_id')
    .offset(sql.lit(TIMELINE_ENTRIES_AT_ONCE - 1))
    .limit(sql.lit(1))
    .executeTakeFirst();
  const last = thousandth?.rma_id ?? null;
  const upTo = last ? sql`and rma_id <= ${last}` : sql``;
  await sql`update timeline set actor_name = ${ERASED_TEXT}
    where rma_id > ${after} ${upTo} and actor_id = ${id} and actor_name <> ${ERASED_TEXT}`.execute(trx);
  const data = JSON.stringify({ assigneeId: id, assigneeName: ERASED_TEXT });
  await sql`update timeline set data = ${data}
    where rma_id > ${after} ${upTo} and type = 'ASSIGNED' and data like ${`{"assigneeId":"${id}"%`}`.execute(
    trx,
  );
  return last;
};
