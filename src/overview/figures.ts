import { sql } from 'kysely';
import { AGE_STEPS_DAYS, type Overview } from '../../contract/admin.ts';
import { rmaNumber } from '../../contract/common.ts';
import { lowestId } from '../lib/ids.ts';
import { toIso } from '../lib/time.ts';
import { dueTimes, isOpen, isOverdue, STATUSES } from '../returns/open.ts';
import { from, KIND_NAMES, type RmaTableName } from '../returns/store.ts';
import { hasStatus, totalOf } from '../returns/totals.ts';
import type { Context } from '../service/context.ts';
import { readUsage } from '../shops/counters.ts';
import type { Caller } from '../shops/plans.ts';
import { readTargets, type Targets } from '../shops/settings.ts';

// The figures on the admin app's first page. The database computes each from an index, and counts as the list counts its rows.

const DAY_MS = 86_400_000;
const DAYS_SHOWN = 30;
const LONGEST_SHOWN = 5;

/** By how much a zone's clocks are ahead at a time, which its name says: GMT, or GMT+05:30. */
const offsetAt = (zone: Intl.DateTimeFormat, ms: number): number => {
  const name = zone.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign = '+', hours = 0, minutes = 0, seconds = 0] = /([+-])(\d+):(\d+)(?::(\d+))?/.exec(name) ?? [];
  const ahead = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return (sign === '+' ? ahead : -ahead) * 1000;
};

/** The last so many days there, the present one included, each from its midnight to the next. */
export const lastDays = (count: number, timeZone: string, nowMs: number) => {
  const zone = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  const today = Math.floor((nowMs + offsetAt(zone, nowMs)) / DAY_MS);
  // The offset may change between the guess and the midnight itself.
  const midnight = (day: number): number => {
    const guess = day * DAY_MS - offsetAt(zone, day * DAY_MS);
    return day * DAY_MS - offsetAt(zone, guess);
  };
  return Array.from({ length: count }, (_, i) => {
    const day = today - count + 1 + i;
    return { day: toIso(day * DAY_MS).slice(0, 10), from: midnight(day), to: midnight(day + 1) };
  });
};
type Days = ReturnType<typeof lastDays>;

const createdPerDay = async (ctx: Context, table: RmaTableName, shop: string, days: Days) => {
  const day = ctx.rows('day', { from: 'integer', to: 'integer' }, days);
  const { rows } = await sql<{ from: number; count: number }>`
    select day."from", (
      select count(*) from ${sql.table(table)}
      where shop_id = ${shop} and created_at >= day."from" and created_at < day."to"
    ) as count
    from ${day}`.execute(ctx.scans);
  return new Map(rows.map(({ from, count }) => [from, count]));
};

/** Found in the index of open returns, which has this order, and nothing else of the table is read for that. */
const openLongest = async ({ scans }: Context, table: RmaTableName, shop: string) => {
  const oldest = from(scans, table)
    .where('shop_id', '=', shop)
    .orderBy('number')
    .limit(sql.lit(LONGEST_SHOWN));
  const rows = await oldest
    .select(['id', 'number', 'status', 'customer_name', 'created_at', 'updated_at'])
    .where('number', 'in', oldest.select('number').where(isOpen(table)))
    .execute();
  return rows.map((row) => ({
    kind: KIND_NAMES[table],
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

const failingReceivers = async ({ scans }: Context, shopId: string) => {
  const rows = await scans
    .selectFrom('webhook_failures as failures')
    .innerJoin('api_clients as client', 'client.id', 'failures.client_id')
    .select(['client.id as clientId', 'client.name', 'failures.since', 'failures.last_error as lastError'])
    .where('client.shop_id', '=', shopId)
    .where('client.revoked_at', 'is', null)
    .where('client.webhook_url', 'is not', null)
    .where('failures.notified_at', 'is not', null)
    .orderBy('failures.since')
    .execute();
  return rows.map((row) => ({ ...row, since: toIso(row.since) }));
};

/** The steps of age as spans of creation: from included, to not. */
const stepsAt = (nowMs: number) => {
  const createdAt = (days: number | null | undefined) => (days == null ? null : toIso(nowMs - days * DAY_MS));
  return [...AGE_STEPS_DAYS, null].map((upToDays, i) => ({
    upToDays,
    createdFrom: createdAt(upToDays),
    createdTo: createdAt(AGE_STEPS_DAYS[i - 1]),
  }));
};

const openWorkOf = async (
  ctx: Context,
  { shop, actor }: Caller,
  table: RmaTableName,
  targets: Targets,
  nowMs: number,
) => {
  const steps = stepsAt(nowMs);
  const cases = AGE_STEPS_DAYS.map(
    (days, i) => sql`when created_at >= ${nowMs - days * DAY_MS} then ${sql.lit(i)}`,
  );
  const step = sql<number>`case ${sql.join(cases, sql` `)} else ${sql.lit(AGE_STEPS_DAYS.length)} end`;
  const { statuses, values } = dueTimes(targets, table, nowMs);
  const returns = from(ctx.scans, table).where('shop_id', '=', shop.id).where(isOpen(table));
  const [totals, open, byAge, overdue] = await Promise.all([
    ctx.totalsOf({ shopId: shop.id, kind: table }),
    totalOf(ctx, shop.id, table, { open: true }),
    // By step of age: how many there are, have an assignee, are this person's. In one pass over the index of open returns.
    returns
      .select((eb) => [
        step.as('step'),
        eb.fn.countAll<number>().as('count'),
        eb.fn.count<number>('assignee_id').as('assigned'),
        sql<number>`count(case when assignee_id = ${actor.id} then 1 end)`.as('mine'),
      ])
      .groupBy('step')
      .execute(),
    returns
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where(isOverdue(statuses, values))
      .executeTakeFirstOrThrow(),
  ]);
  const sum = (some: number[]) => some.reduce((total, count) => total + count, 0);
  return {
    byStatus: STATUSES[table].map((status) => ({
      status,
      count: sum(totals.filter((total) => hasStatus(total, status)).map(({ count }) => count)),
    })),
    open,
    mine: sum(byAge.map(({ mine }) => mine)),
    unassigned: sum(byAge.map(({ count, assigned }) => count - assigned)),
    overdue: overdue.count,
    openByAge: steps.map((span, i) => ({ ...span, count: byAge.find(({ step }) => step === i)?.count ?? 0 })),
  };
};

/** Only Admins may see the shop's clients. */
export const overviewOf = async (ctx: Context, caller: Caller, timeZone: string, isAdmin: boolean) => {
  const { shop } = caller;
  const nowMs = ctx.clock.now();
  const days = lastDays(DAYS_SHOWN, timeZone, nowMs);
  const targets = await readTargets(ctx, shop.id);
  const figuresOf = (table: RmaTableName) =>
    Promise.all([
      openWorkOf(ctx, caller, table, targets, nowMs),
      createdPerDay(ctx, table, shop.id, days),
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
    failingReceivers: isAdmin ? await failingReceivers(ctx, shop.id) : null,
    openLongest: [...oldRepairs, ...oldReturns]
      .sort((one, other) => one.createdAt.localeCompare(other.createdAt))
      .slice(0, LONGEST_SHOWN),
  };
};
