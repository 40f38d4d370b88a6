import { sql } from 'kysely';
import { z } from 'zod';
import { OPERATOR } from '../audit/store.ts';
import type { Db } from '../db/database.ts';
import { deleteFact } from '../db/installation-facts.ts';
import type { Context } from '../service/context.ts';
import { beginShopDeletion, deleteShopStep } from '../shops/delete-shop.ts';
import { findShop } from '../shops/store.ts';
import { ERASED_AT_ONCE, eraseReturns } from './erase.ts';
import { eraseEmployeeStep, NOT_BEGUN, unfinishedErasures } from './former-employees.ts';

// What was erased, as a list of ids. A restored backup is from before some of it: these are added as unfinished, and erased again.

export const ListedErasure = z.object({
  subject_id: z.uuid(),
  shop_id: z.uuid(),
  kind: z.enum(['offline_repairs', 'trade_returns', 'users', 'shops']),
  at: z.int(),
});
export type ListedErasure = z.infer<typeof ListedErasure>;

const ROWS_AT_ONCE = 1_000;

export async function* listErasures(db: Db): AsyncGenerator<ListedErasure> {
  const all = db.selectFrom('erasures').select(['subject_id', 'shop_id', 'kind', 'at']).orderBy('subject_id');
  for (let last = NOT_BEGUN; ; ) {
    const rows = await all.where('subject_id', '>', last).limit(sql.lit(ROWS_AT_ONCE)).execute();
    yield* rows;
    if (rows.length < ROWS_AT_ONCE) return;
    last = rows.at(-1)?.subject_id ?? last;
  }
}

/** Those that the database lacks, in the caller's transaction; `finishErasures` then erases them. */
export const addErasures = async (db: Db, list: ListedErasure[]): Promise<void> => {
  for (let first = 0; first < list.length; first += ROWS_AT_ONCE) {
    const some = list.slice(first, first + ROWS_AT_ONCE).map((row) => ({ ...row, done_to: NOT_BEGUN }));
    const insertion = db.insertInto('erasures').values(some);
    await insertion.onConflict((conflict) => conflict.doNothing()).execute();
  }
  await deleteFact(db, 'restored-without-erasures');
};

/** What is not done yet, and how much of it is about returns that are not here. */
export const countUnfinished = async (db: Db): Promise<{ unfinished: number; unknown: number }> => {
  const isReturn = (table: string) =>
    sql`select 1 from ${sql.table(table)} as kept where kept.id = subject_id`;
  const { rows } = await sql<{ unfinished: number; unknown: number }>`
    select count(*) as unfinished, coalesce(sum(case when kind in ('offline_repairs', 'trade_returns')
      and not exists (${isReturn('offline_repairs')}) and not exists (${isReturn('trade_returns')}) then 1 else 0 end), 0) as unknown
    from erasures where done_to is not null`.execute(db);
  return { unfinished: Number(rows[0]?.unfinished), unknown: Number(rows[0]?.unknown) };
};

/** One step of what is unfinished; true when more is left. */
export const finishErasures = async (ctx: Context): Promise<boolean> => {
  const rows = await unfinishedErasures(ctx.background, ctx.clock.now())
    .orderBy('subject_id')
    .limit(sql.lit(ERASED_AT_ONCE))
    .execute();
  for (const [shopId, erasures] of Map.groupBy(rows, ({ shop_id }) => shop_id)) {
    if (erasures.some(({ kind }) => kind === 'shops')) {
      await beginShopDeletion(ctx, shopId);
      await deleteShopStep(ctx, shopId);
      continue;
    }
    const { users = [], returns = [] } = Object.groupBy(erasures, ({ kind }) =>
      kind === 'users' ? 'users' : 'returns',
    );
    for (const { subject_id } of users) await eraseEmployeeStep(ctx, subject_id);
    const ids = returns.map(({ subject_id }) => subject_id);
    await eraseAgain(ctx, shopId, ids);
  }
  return rows.length > 0;
};

/** Without events: their receivers had them before. */
const eraseAgain = async (ctx: Context, shopId: string, ids: string[]): Promise<void> => {
  const shop = ids.length > 0 ? await findShop(ctx.background, shopId) : null;
  const how = { includeOpen: true, isSilent: true };
  if (shop) await eraseReturns(ctx, { shop, actor: OPERATOR }, ids, how);
  const own = sql<boolean>`subject_id ${ctx.oneOf('id', ids)}`;
  await ctx.background.updateTable('erasures').set({ done_to: null }).where(own).execute();
  if (shop && ids.length < ERASED_AT_ONCE) await ctx.scrub();
};
