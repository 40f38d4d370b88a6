import { sql } from 'kysely';
import { AGE_STEPS_DAYS, type Overview } from '../../contract/admin.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import { statement, statementsBy } from '../db/statements.ts';
import { instant } from '../instant.ts';
import { isOpen, STATUSES } from '../returns/open.ts';
import { dueTimes, isOverdue } from '../returns/overdue.ts';
import { from } from '../returns/store.ts';
import { totalOf } from '../returns/totals.ts';
import type { RmaTableName } from '../returns/visibility.ts';
import type { Targets } from '../shops/target-days.ts';

// What is open, of either kind: how old it is, whose it is, what is overdue. Each figure is counted as the list counts its rows.

const DAY_MS = 86_400_000;

/** The steps of age as spans of creation: from included, to not. */
const stepsAt = (nowMs: number): { upToDays: number | null; from: number | null; to: number | null }[] =>
  [...AGE_STEPS_DAYS, null].map((upToDays, i) => {
    const before = AGE_STEPS_DAYS[i - 1];
    return {
      upToDays,
      from: upToDays === null ? null : nowMs - upToDays * DAY_MS,
      to: before === undefined ? null : nowMs - before * DAY_MS,
    };
  });

/** By step of age: how many there are, have an assignee, are this person's. In one pass over the index of open returns. */
const openByAge = statementsBy((table: RmaTableName) =>
  statement(({ db }, params: { shop: string; person: string | null } & Record<string, unknown>) => {
    const step = AGE_STEPS_DAYS.reduceRight(
      (otherwise, _days, i) =>
        sql<number>`case when created_at >= ${params[`from${i}`]} then ${sql.lit(i)} else ${otherwise} end`,
      sql<number>`${sql.lit(AGE_STEPS_DAYS.length)}`,
    );
    return from(db, table)
      .select((eb) => [
        step.as('step'),
        eb.fn.countAll<number>().as('count'),
        eb.fn.count<number>('assignee_id').as('assigned'),
        sql<number>`count(case when assignee_id = ${params.person} then 1 end)`.as('mine'),
      ])
      .where('shop_id', '=', params.shop)
      .where(isOpen(table))
      .groupBy('step');
  }),
);

const countingOverdue = statementsBy(({ table, statuses }: { table: RmaTableName; statuses: string[] }) =>
  statement(({ db }, params: { shop: string } & Record<string, unknown>) =>
    from(db, table)
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('shop_id', '=', params.shop)
      .where(isOpen(table))
      .where(isOverdue(statuses, params)),
  ),
);

const countOverdue = async (
  { scans, fill }: Context,
  table: RmaTableName,
  shop: string,
  targets: Targets,
  nowMs: number,
) => {
  const { statuses, values } = dueTimes(targets, table, nowMs);
  if (statuses.length === 0) return 0;
  const { rows } = await scans.executeQuery(fill(countingOverdue({ table, statuses }), { ...values, shop }));
  return rows[0]?.count ?? 0;
};

export const openWorkOf = async (
  ctx: Context,
  { shop, actor }: Caller,
  table: RmaTableName,
  targets: Targets,
  nowMs: number,
): Promise<Overview['offlineRepairs'] | Overview['tradeReturns']> => {
  const steps = stepsAt(nowMs);
  const fromTimes = Object.fromEntries(steps.map(({ from: time }, i) => [`from${i}`, time]));
  const [totals, open, { rows: byAge }, overdue] = await Promise.all([
    ctx.totalsOf({ shopId: shop.id, kind: table }),
    totalOf(ctx, shop.id, table, { open: true }),
    ctx.scans.executeQuery(ctx.fill(openByAge(table), { ...fromTimes, shop: shop.id, person: actor.id })),
    countOverdue(ctx, table, shop.id, targets, nowMs),
  ]);
  const sum = (some: number[]) => some.reduce((total, count) => total + count, 0);
  return {
    byStatus: STATUSES[table].map((status) => ({
      status,
      count: sum(totals.filter((total) => total.status === status).map(({ count }) => count)),
    })),
    open,
    mine: sum(byAge.map(({ mine }) => mine)),
    unassigned: sum(byAge.map(({ count, assigned }) => count - assigned)),
    overdue,
    openByAge: steps.map(({ upToDays, from: createdFrom, to: createdTo }, i) => ({
      upToDays,
      count: byAge.find(({ step }) => step === i)?.count ?? 0,
      createdFrom: createdFrom === null ? null : instant(createdFrom),
      createdTo: createdTo === null ? null : instant(createdTo),
    })),
  } as Overview['offlineRepairs'] | Overview['tradeReturns'];
};
