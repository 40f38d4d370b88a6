import { sql } from 'kysely';
import { AGE_STEPS_DAYS, type Overview } from '../../contract/admin.ts';
import { rmaNumber } from '../../contract/common.ts';
import { statement, statementsBy } from '../db/statements.ts';
import { lowestId } from '../lib/ids.ts';
import { toIso } from '../lib/time.ts';
import { isOpen, STATUSES, dueTimes, isOverdue } from '../returns/open.ts';
import { from, type RmaTableName } from '../returns/store.ts';
import { totalOf } from '../returns/totals.ts';
import type { Context } from '../service/context.ts';
import { readUsage } from '../shops/allowance.ts';
import type { Caller } from '../shops/plans.ts';
import { readTargets, type Targets } from '../shops/target-days.ts';
import { lastDays } from './days.ts';

// The figures on the admin app's first page. The database computes each from an index, and counts as the list counts its rows.

const DAY_MS = 86_400_000;
const DAYS_SHOWN = 30;
const LONGEST_SHOWN = 5;

const KINDS = { offline_repairs: 'OFFLINE_REPAIR', trade_returns: 'TRADE_RETURN' } as const;

type Spans = { from_at: number; to_at: number }[];

const countingPerDay = statementsBy((table: RmaTableName) =>
  statement(
    ({ rows }, { shop, days }: { shop: string; days: Spans }) =>
      sql<{ from_at: number; count: number }>`
        select day.from_at, (
          select count(*) from ${sql.table(table)}
          where shop_id = ${shop} and created_at >= day.from_at and created_at < day.to_at
        ) as count
        from ${rows('day', { from_at: 'integer', to_at: 'integer' }, days)}`,
  ),
);

/** By the beginning of each day. */
const createdPerDay = async ({ scans, fill }: Context, table: RmaTableName, shop: string, days: Spans) => {
  const { rows } = await scans.executeQuery(fill(countingPerDay(table), { shop, days }));
  return new Map(rows.map(({ from_at, count }) => [from_at, count]));
};

/** Found in the index of open returns, which has this order, and nothing else of the table is read for that. */
const oldestOpen = statementsBy((table: RmaTableName) =>
  statement(({ db }, { shop }: { shop: string }) => {
    const oldest = from(db, table)
      .where('shop_id', '=', shop)
      .orderBy('number')
      .limit(sql.lit(LONGEST_SHOWN));
    return oldest
      .select(['id', 'number', 'status', 'customer_name', 'created_at', 'updated_at'])
      .where('number', 'in', oldest.select('number').where(isOpen(table)));
  }),
);

const openLongest = async ({ scans, fill }: Context, table: RmaTableName, shop: string) => {
  const { rows } = await scans.executeQuery(fill(oldestOpen(table), { shop }));
  return rows.map((row) => ({
    kind: KINDS[table],
    id: row.id,
    rmaNumber: rmaNumber(row.number),
    status: row.status,
    customerName: row.customer_name,
    createdAt: toIso(row.created_at),
    updatedAt: toIso(row.updated_at),
  }));
};

const deliveriesOf = async ({ scans }: Context, shopId: string, sinceMs: number) => {
  const rows = await scans
    .selectFrom('webhook_deliveries as delivery')
    .innerJoin('api_clients as client', 'client.id', 'delivery.client_id')
    .select((eb) => ['delivery.status', 'client.id', 'client.name', eb.fn.countAll<number>().as('count')])
    .where('client.shop_id', '=', shopId)
    .where('delivery.id', '>=', lowestId(sinceMs))
    .groupBy(['delivery.status', 'client.id', 'client.name'])
    .execute();
  const of = (status: string) =>
    rows.filter((row) => row.status === status).reduce((sum, { count }) => sum + count, 0);
  return {
    webhooks: { delivered: of('DELIVERED'), dropped: of('DROPPED'), waiting: of('PENDING') },
    droppedByClient: rows
      .filter(({ status }) => status === 'DROPPED')
      .map(({ id, name, count }) => ({ clientId: id, name, dropped: count }))
      .sort((one, other) => other.dropped - one.dropped),
  };
};

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

const openWorkOf = async (
  ctx: Context,
  { shop, actor }: Caller,
  table: RmaTableName,
  targets: Targets,
  nowMs: number,
) => {
  const steps = stepsAt(nowMs);
  const fromTimes = Object.fromEntries(steps.map(({ from: time }, i) => [`from${i}`, time]));
  const { statuses, values } = dueTimes(targets, table, nowMs);
  const countOverdue = ctx.fill(countingOverdue({ table, statuses }), { ...values, shop: shop.id });
  const [totals, open, { rows: byAge }, overdue] = await Promise.all([
    ctx.totalsOf({ shopId: shop.id, kind: table }),
    totalOf(ctx, shop.id, table, { open: true }),
    ctx.scans.executeQuery(ctx.fill(openByAge(table), { ...fromTimes, shop: shop.id, person: actor.id })),
    ctx.scans.executeQuery(countOverdue),
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
    overdue: overdue.rows[0]?.count ?? 0,
    openByAge: steps.map(({ upToDays, from: createdFrom, to: createdTo }, i) => ({
      upToDays,
      count: byAge.find(({ step }) => step === i)?.count ?? 0,
      createdFrom: createdFrom === null ? null : toIso(createdFrom),
      createdTo: createdTo === null ? null : toIso(createdTo),
    })),
  };
};

/** Only Admins may see the shop's clients. */
export const overviewOf = async (
  ctx: Context,
  caller: Caller,
  timeZone: string,
  isAdmin: boolean,
): Promise<Overview> => {
  const { shop } = caller;
  const nowMs = ctx.clock.now();
  const days = lastDays(DAYS_SHOWN, timeZone, nowMs);
  const spans = days.map(({ from, to }) => ({ from_at: from, to_at: to }));
  const targets = await readTargets(ctx, shop.id);
  const figuresOf = (table: RmaTableName) =>
    Promise.all([
      openWorkOf(ctx, caller, table, targets, nowMs),
      createdPerDay(ctx, table, shop.id, spans),
      openLongest(ctx, table, shop.id),
    ]);
  const [[offlineRepairs, repairDays, oldRepairs], [tradeReturns, tradeDays, oldReturns], usage, deliveries] =
    await Promise.all([
      figuresOf('offline_repairs'),
      figuresOf('trade_returns'),
      readUsage(ctx, shop),
      deliveriesOf(ctx, shop.id, nowMs - DAY_MS),
    ]);
  return {
    offlineRepairs: offlineRepairs as Overview['offlineRepairs'],
    tradeReturns: tradeReturns as Overview['tradeReturns'],
    createdPerDay: days.map(({ day, from, to }) => ({
      day,
      offlineRepairs: repairDays.get(from) ?? 0,
      tradeReturns: tradeDays.get(from) ?? 0,
      createdFrom: toIso(from),
      createdTo: toIso(to),
    })),
    month: { month: usage.month, used: usage.used, limit: usage.limit, billing: usage.billing },
    webhooks: deliveries.webhooks,
    droppedByClient: isAdmin ? deliveries.droppedByClient : null,
    openLongest: [...oldRepairs, ...oldReturns]
      .sort((one, other) => one.createdAt.localeCompare(other.createdAt))
      .slice(0, LONGEST_SHOWN),
  };
};
