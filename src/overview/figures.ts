import { type Expression, type RawBuilder, sql } from 'kysely';
import { AGE_STEPS_DAYS, type Overview, type OverviewReturn } from '../../contract/admin.ts';
import { type KindField, perField, RETURN_TABLES, type ReturnTable } from '../../contract/kinds.ts';
import type { ReturnView } from '../../contract/webhook-event.ts';
import { lowestId } from '../lib/ids.ts';
import { DAY_MS, toIso } from '../lib/time.ts';
import { viewRow } from '../paging/page-response.ts';
import type { Core } from '../platform/core.ts';
import { viewFor } from '../returns/assignees.ts';
import { KINDS } from '../returns/kinds/kinds.ts';
import { briefOf, from, isOpen, type ReturnRow, returnColumns, statusesOf } from '../returns/store.ts';
import { totalsByStatus } from '../returns/totals.ts';
import { dueAtSql, IS_WAITING, targetParams } from '../returns/waiting.ts';
import { readUsage } from '../shops/allowance.ts';
import type { Caller } from '../shops/plans.ts';
import { readTargets, type Targets } from '../shops/settings.ts';
import { belongsToClient } from '../webhooks/queue.ts';

// The figures on the admin app's first page. The database computes each from an index, with the conditions of the list.

const DAYS_SHOWN = 30;
const LONGEST_SHOWN = 5;
const WORK_SHOWN = 8;

/** The offset of a time zone at this time, from its name: GMT, or GMT+05:30. */
const offsetAt = (zone: Intl.DateTimeFormat, ms: number): number => {
  const name = zone.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign = '+', hours = 0, minutes = 0, seconds = 0] = /([+-])(\d+):(\d+)(?::(\d+))?/.exec(name) ?? [];
  const ahead = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return (sign === '+' ? ahead : -ahead) * 1000;
};

/** The last days in a time zone including today, each from midnight to midnight. */
export const lastDays = (count: number, timeZone: string, nowMs: number) => {
  const zone = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  const today = Math.floor((nowMs + offsetAt(zone, nowMs)) / DAY_MS);
  // The offset may change between the guess and midnight.
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

const createdPerDay = async (ctx: Core, table: ReturnTable, shop: string, days: Days) => {
  const day = ctx.rows('day', { from: 'integer', to: 'integer' }, days);
  const { rows } = await sql<{ from: number; count: number }>`
    select day."from", (
      select count(*) from ${sql.table(table)}
      where shop_id = ${shop} and created_at >= day."from" and created_at < day."to"
    ) as count
    from ${day}`.execute(ctx.scans);
  return new Map(rows.map(({ from, count }) => [from, count]));
};

type View = (row: ReturnRow) => ReturnView & Pick<OverviewReturn, 'assignee' | 'dueAt' | 'waitingFor'>;

/** Reads returns by number. The query finds the numbers in an index of open returns, without reading the table. */
const readReturns = async (
  ctx: Core,
  { table, shop, view }: { table: ReturnTable; shop: string; view: View },
  numbers: Expression<unknown>,
): Promise<OverviewReturn[]> => {
  const { about, aboutIn } = KINDS[table].searched;
  const rows = await from(ctx.scans, table)
    .select(returnColumns(table))
    .where('shop_id', '=', shop)
    .where(sql<boolean>`number ${ctx.among(numbers)}`)
    .$castTo<ReturnRow>()
    .execute();
  return rows.flatMap((row) => {
    const item = viewRow(ctx, { name: table, view }, row);
    if (!item) return [];
    const { assignee, dueAt, waitingFor, createdAt, updatedAt } = item;
    const isPartlyReceived =
      'items' in item && item.status === 'TRADE_APPROVED' && item.items.some(({ received }) => received > 0);
    return {
      ...briefOf(table, row),
      isPartlyReceived,
      title: aboutIn(Reflect.get(row, about)),
      assignee,
      dueAt,
      waitingFor,
      createdAt,
      updatedAt,
    };
  });
};

/** Counts of each age range, from the cumulative counts. `createdTo` is exclusive. */
const countsByAge = (within: number[], nowMs: number) => {
  const createdAt = (days: number | undefined) => (days === undefined ? null : toIso(nowMs - days * DAY_MS));
  return within.map((count, i) => ({
    upToDays: AGE_STEPS_DAYS[i] ?? null,
    count: count - (within[i - 1] ?? 0),
    createdFrom: createdAt(AGE_STEPS_DAYS[i]),
    createdTo: createdAt(AGE_STEPS_DAYS[i - 1]),
  }));
};

interface Times {
  nowMs: number;
  days: Days;
  today: { from: number; to: number };
  targets: Targets;
}

/** The figures of one kind: counts; what to do next, for all and for this person; and the oldest open returns, without resolved repairs. */
const kindFigures = async (ctx: Core, caller: Caller, table: ReturnTable, times: Times) => {
  const { nowMs, days, today, targets } = times;
  const { shop, actor } = caller;
  const view = (await viewFor(ctx, caller, KINDS[table].view)) as View;
  const { statuses, values } = targetParams(targets, table);
  const dueAt = dueAtSql(statuses, values);
  const open = from(ctx.scans, table).where('shop_id', '=', shop.id).where(isOpen(table));
  const numbers = open.select('number');
  const read = (some: Expression<unknown>) => readReturns(ctx, { table, shop: shop.id, view }, some);
  const byDue = (some: typeof numbers) =>
    (statuses.length === 0 ? some : some.orderBy(dueAt, (by) => by.asc().nullsLast()))
      .orderBy('number')
      .limit(sql.lit(WORK_SHOWN));
  const oldest = numbers.where('status', '<>', 'OFFLINE_RESOLVED').orderBy('number');
  const count = (condition: RawBuilder<unknown>) => sql<number>`count(case when ${condition} then 1 end)`;
  const [totals, counted, perDay, next, own, openLongest] = await Promise.all([
    totalsByStatus(ctx, shop.id, table),
    // One pass over open returns computes all of them, without groups, which SQLite would sort.
    open
      .select((eb) => [
        eb.fn.countAll<number>().as('total'),
        count(sql`assignee_id = ${actor.id}`).as('mine'),
        count(sql`assignee_id is null`).as('unassigned'),
        count(sql`${dueAt} <= ${nowMs}`).as('overdue'),
        count(sql`${dueAt} < ${today.to}`).as('due'),
        count(IS_WAITING).as('waiting'),
        ...AGE_STEPS_DAYS.map((step) => count(sql`created_at >= ${nowMs - step * DAY_MS}`).as(`upTo${step}`)),
      ])
      .executeTakeFirstOrThrow(),
    createdPerDay(ctx, table, shop.id, days),
    statuses.length === 0 ? [] : read(byDue(numbers)),
    read(byDue(numbers.where('assignee_id', '=', actor.id))),
    read(oldest.limit(sql.lit(LONGEST_SHOWN))),
  ]);
  const byStatus = statusesOf(table).map((status) => ({ status, count: totals.get(status) ?? 0 }));
  const { total, mine, unassigned, overdue, due, waiting } = counted;
  const within = [...AGE_STEPS_DAYS.map((step) => counted[`upTo${step}`]), total];
  return {
    counts: {
      ...{ byStatus, open: total, mine, unassigned, overdue, dueToday: due - overdue, waiting },
      createdToday: perDay.get(today.from) ?? 0,
      openByAge: countsByAge(within, nowMs),
    },
    perDay,
    work: { next: next.filter((each) => each.dueAt !== null), mine: own, openLongest },
  };
};

const byAge = ({ createdAt }: OverviewReturn): string => createdAt;
const byDueTime = ({ dueAt, createdAt }: OverviewReturn): string => (dueAt ?? '9999') + createdAt;

const deliveriesOf = async ({ scans }: Core, shopId: string, sinceMs: number) => {
  const rows = await scans
    .selectFrom('webhook_deliveries as delivery')
    .innerJoin('api_clients as client', 'client.receiver_id', 'delivery.receiver_id')
    .where(belongsToClient('delivery', sql.ref('client.created_at'), sql.ref('client.replaced_at')))
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

const failingReceivers = async ({ scans }: Core, shopId: string) => {
  const rows = await scans
    .selectFrom('webhook_failures as failures')
    .innerJoin('api_clients as client', 'client.receiver_id', 'failures.receiver_id')
    .where('client.replaced_by', 'is', null)
    .select(['client.id as clientId', 'client.name', 'failures.since', 'failures.last_error as lastError'])
    .where('client.shop_id', '=', shopId)
    .where('client.revoked_at', 'is', null)
    .where('client.webhook_url', 'is not', null)
    .where('failures.notified_at', 'is not', null)
    .orderBy('failures.since')
    .execute();
  return rows.map((row) => ({ ...row, since: toIso(row.since) }));
};

/** Only Admins may see the shop's clients. */
export const overviewOf = async (ctx: Core, caller: Caller, timeZone: string, isAdmin: boolean) => {
  const { shop } = caller;
  const nowMs = ctx.clock.now();
  const days = lastDays(DAYS_SHOWN, timeZone, nowMs);
  const today = days.at(-1) ?? { from: nowMs, to: nowMs };
  const times = { nowMs, days, today, targets: await readTargets(ctx, shop.id) };
  const [figures, usage, deliveries] = await Promise.all([
    Promise.all(RETURN_TABLES.map((table) => kindFigures(ctx, caller, table, times))),
    readUsage(ctx, shop),
    deliveriesOf(ctx, shop.id, nowMs - DAY_MS),
  ]);
  const figuresByTable = new Map(RETURN_TABLES.map((table, i) => [table, figures[i]]));
  const first = (
    most: number,
    name: 'next' | 'mine' | 'openLongest',
    keyOf: (item: OverviewReturn) => string,
  ) =>
    figures
      .flatMap(({ work }) => work[name])
      .sort((one, other) => keyOf(one).localeCompare(keyOf(other)))
      .slice(0, most);
  return {
    now: toIso(nowMs),
    todayBegins: toIso(today.from),
    todayEnds: toIso(today.to),
    ...(perField((table) => figuresByTable.get(table)?.counts) as Pick<Overview, KindField>),
    createdPerDay: days.map(({ day, from, to }) => ({
      day,
      ...perField((table) => figuresByTable.get(table)?.perDay.get(from) ?? 0),
      createdFrom: toIso(from),
      createdTo: toIso(to),
    })),
    month: { month: usage.month, used: usage.used, limit: usage.limit, billing: usage.billing },
    webhooks: deliveries.webhooks,
    droppedByClient: isAdmin ? deliveries.droppedByClient : null,
    failingReceivers: isAdmin ? await failingReceivers(ctx, shop.id) : null,
    next: first(WORK_SHOWN, 'next', byDueTime),
    mine: first(WORK_SHOWN, 'mine', byDueTime),
    openLongest: first(LONGEST_SHOWN, 'openLongest', byAge),
  };
};
