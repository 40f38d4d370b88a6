import { type SqlBool, sql } from 'kysely';
import { AGE_STEPS_DAYS, type Overview } from '../../contract/admin.ts';
import { rmaNumber } from '../../contract/common.ts';
import {
  ENDED_STATUSES,
  OFFLINE_REPAIR_STATUSES,
  type OfflineRepairStatus,
  TRADE_RETURN_STATUSES,
} from '../../contract/lifecycle.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/database.ts';
import { lowestId } from '../ids.ts';
import { instant } from '../instant.ts';
import type { RmaTableName } from '../rma/visibility.ts';
import { readUsage } from '../shops/allowance.ts';
import type { Shop } from '../shops/plans.ts';

// The figures on the admin app's first page. The database computes each from an index.

const DAY_MS = 86_400_000;
const DAYS_SHOWN = 30;
const LONGEST_SHOWN = 5;

const KINDS = {
  offline_repairs: { kind: 'OFFLINE_REPAIR', statuses: OFFLINE_REPAIR_STATUSES },
  trade_returns: { kind: 'TRADE_RETURN', statuses: TRADE_RETURN_STATUSES },
} as const;

const openStatuses = (table: RmaTableName): string[] =>
  KINDS[table].statuses.filter((status) => !(ENDED_STATUSES[table] as readonly string[]).includes(status));

/** Counts open RMAs by age, in one pass over the open part of the status index. */
const countOpenByAge = async (db: Db, table: RmaTableName, shopId: string, nowMs: number) => {
  const stepOf = AGE_STEPS_DAYS.reduceRight(
    (otherwise, days, step) =>
      sql<number>`case when created_at > ${nowMs - days * DAY_MS} then ${sql.lit(step)} else ${otherwise} end`,
    sql<number>`${sql.lit(AGE_STEPS_DAYS.length)}`,
  );
  return db
    .selectFrom(table as 'offline_repairs')
    .select((eb) => [stepOf.as('step'), eb.fn.countAll<number>().as('count')])
    .where('shop_id', '=', shopId)
    .where('status', 'in', openStatuses(table) as OfflineRepairStatus[])
    .groupBy('step')
    .execute();
};

const countsOf = async (ctx: Context, table: RmaTableName, shopId: string, nowMs: number) => {
  const [totals, open] = await Promise.all([
    ctx.totalsOf({ shopId, kind: table }),
    countOpenByAge(ctx.db, table, shopId, nowMs),
  ]);
  const sum = (some: { count: number }[]) => some.reduce((total, { count }) => total + count, 0);
  return {
    byStatus: KINDS[table].statuses.map((status) => ({
      status,
      count: sum(totals.filter((total) => total.status === status)),
    })),
    open: sum(open),
    openByAge: [...AGE_STEPS_DAYS, null].map((upToDays, step) => ({
      upToDays,
      count: sum(open.filter((row) => row.step === step)),
    })),
  };
};

const createdPerDay = async (
  db: Db,
  table: RmaTableName,
  shopId: string,
  sinceDay: number,
): Promise<Map<number, number>> => {
  const rows = await db
    .selectFrom(table as 'offline_repairs')
    .select((eb) => [
      sql<number>`created_at / ${sql.lit(DAY_MS)}`.as('day'),
      eb.fn.countAll<number>().as('count'),
    ])
    .where('shop_id', '=', shopId)
    .where('created_at', '>=', sinceDay * DAY_MS)
    .groupBy('day')
    .execute();
  return new Map(rows.map(({ day, count }) => [day, count]));
};

/** The oldest RMAs of each open status, from its index. The oldest of all are among them. */
const openLongest = async (db: Db, table: RmaTableName, shopId: string): Promise<Overview['openLongest']> => {
  const lists = await Promise.all(
    openStatuses(table).map((status) =>
      db
        .selectFrom(table as 'offline_repairs')
        .select(['id', 'number', 'status', 'customer_name', 'created_at', 'updated_at'])
        .where('shop_id', '=', shopId)
        .where(sql<SqlBool>`status = ${status}`)
        .orderBy('number')
        .limit(LONGEST_SHOWN)
        .execute(),
    ),
  );
  return lists.flat().map((row) => ({
    kind: KINDS[table].kind,
    id: row.id,
    rmaNumber: rmaNumber(row.number),
    status: row.status,
    customerName: row.customer_name,
    createdAt: instant(row.created_at),
    updatedAt: instant(row.updated_at),
  }));
};

const deliveriesOf = async (db: Db, shopId: string, sinceMs: number): Promise<Overview['webhooks']> => {
  const rows = await db
    .selectFrom('webhook_deliveries as delivery')
    .innerJoin('api_clients as client', 'client.id', 'delivery.client_id')
    .select((eb) => ['delivery.status', eb.fn.countAll<number>().as('count')])
    .where('client.shop_id', '=', shopId)
    .where('delivery.id', '>=', lowestId(sinceMs))
    .groupBy('delivery.status')
    .execute();
  const of = (status: string) => rows.find((row) => row.status === status)?.count ?? 0;
  return { delivered: of('DELIVERED'), dropped: of('DROPPED'), waiting: of('PENDING') };
};

export const overviewOf = async (ctx: Context, shop: Shop): Promise<Overview> => {
  const { db } = ctx;
  const nowMs = ctx.clock.now();
  const today = Math.floor(nowMs / DAY_MS);
  const firstDay = today - DAYS_SHOWN + 1;
  const [offlineRepairs, tradeReturns, repairDays, tradeDays, usage, webhooks, oldRepairs, oldReturns] =
    await Promise.all([
      countsOf(ctx, 'offline_repairs', shop.id, nowMs),
      countsOf(ctx, 'trade_returns', shop.id, nowMs),
      createdPerDay(db, 'offline_repairs', shop.id, firstDay),
      createdPerDay(db, 'trade_returns', shop.id, firstDay),
      readUsage(ctx, shop),
      deliveriesOf(db, shop.id, nowMs - DAY_MS),
      openLongest(db, 'offline_repairs', shop.id),
      openLongest(db, 'trade_returns', shop.id),
    ]);
  return {
    offlineRepairs: offlineRepairs as Overview['offlineRepairs'],
    tradeReturns: tradeReturns as Overview['tradeReturns'],
    createdPerDay: Array.from({ length: DAYS_SHOWN }, (_, i) => ({
      day: instant((firstDay + i) * DAY_MS).slice(0, 10),
      offlineRepairs: repairDays.get(firstDay + i) ?? 0,
      tradeReturns: tradeDays.get(firstDay + i) ?? 0,
    })),
    month: { month: usage.month, used: usage.used, limit: usage.limit, billing: usage.billing },
    webhooks,
    openLongest: [...oldRepairs, ...oldReturns]
      .sort((one, other) => one.createdAt.localeCompare(other.createdAt))
      .slice(0, LONGEST_SHOWN),
  };
};
