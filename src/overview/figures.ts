import { sql } from 'kysely';
import type { Overview } from '../../contract/admin.ts';
import { rmaNumber } from '../../contract/common.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/database.ts';
import { statement, statementsBy } from '../db/statements.ts';
import { lowestId } from '../ids.ts';
import { instant } from '../instant.ts';
import { isOpen } from '../returns/open.ts';
import { from } from '../returns/store.ts';
import type { RmaTableName } from '../returns/visibility.ts';
import { readUsage } from '../shops/allowance.ts';
import { readTargets } from '../shops/target-days.ts';
import { lastDays } from './days.ts';
import { openWorkOf } from './open-work.ts';

// The figures on the admin app's first page. The database computes each from an index.

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
const createdPerDay = async (
  { scans, fill }: Context,
  table: RmaTableName,
  shop: string,
  days: Spans,
): Promise<Map<number, number>> => {
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

const openLongest = async (
  { scans, fill }: Context,
  table: RmaTableName,
  shop: string,
): Promise<Overview['openLongest']> => {
  const { rows } = await scans.executeQuery(fill(oldestOpen(table), { shop }));
  return rows.map((row) => ({
    kind: KINDS[table],
    id: row.id,
    rmaNumber: rmaNumber(row.number),
    status: row.status,
    customerName: row.customer_name,
    createdAt: instant(row.created_at),
    updatedAt: instant(row.updated_at),
  }));
};

/** How the webhooks of the last day went, and whose were given up. */
const deliveriesOf = async (
  db: Db,
  shopId: string,
  sinceMs: number,
): Promise<Pick<Overview, 'webhooks' | 'droppedByClient'>> => {
  const rows = await db
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

interface Reader {
  timeZone: string;
  /** Whether they may see the shop's clients. */
  isAdmin: boolean;
}

export const overviewOf = async (
  ctx: Context,
  caller: Caller,
  { timeZone, isAdmin }: Reader,
): Promise<Overview> => {
  const { shop } = caller;
  const nowMs = ctx.clock.now();
  const days = lastDays(DAYS_SHOWN, timeZone, nowMs);
  const spans = days.map(({ from, to }) => ({ from_at: from, to_at: to }));
  const targets = await readTargets(ctx, shop.id);
  const [offlineRepairs, tradeReturns, repairDays, tradeDays, usage, deliveries, oldRepairs, oldReturns] =
    await Promise.all([
      openWorkOf(ctx, caller, 'offline_repairs', targets, nowMs),
      openWorkOf(ctx, caller, 'trade_returns', targets, nowMs),
      createdPerDay(ctx, 'offline_repairs', shop.id, spans),
      createdPerDay(ctx, 'trade_returns', shop.id, spans),
      readUsage(ctx, shop),
      deliveriesOf(ctx.scans, shop.id, nowMs - DAY_MS),
      openLongest(ctx, 'offline_repairs', shop.id),
      openLongest(ctx, 'trade_returns', shop.id),
    ]);
  return {
    offlineRepairs: offlineRepairs as Overview['offlineRepairs'],
    tradeReturns: tradeReturns as Overview['tradeReturns'],
    createdPerDay: days.map(({ day, from, to }) => ({
      day,
      offlineRepairs: repairDays.get(from) ?? 0,
      tradeReturns: tradeDays.get(from) ?? 0,
      createdFrom: instant(from),
      createdTo: instant(to),
    })),
    month: { month: usage.month, used: usage.used, limit: usage.limit, billing: usage.billing },
    webhooks: deliveries.webhooks,
    droppedByClient: isAdmin ? deliveries.droppedByClient : null,
    openLongest: [...oldRepairs, ...oldReturns]
      .sort((one, other) => one.createdAt.localeCompare(other.createdAt))
      .slice(0, LONGEST_SHOWN),
  };
};
