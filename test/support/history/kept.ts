import type { Db } from '../../../src/db/types.ts';
import { shopFrom } from '../../../src/shops/plans.ts';
import { readAttempts } from '../../../src/webhooks/queue.ts';

// What stands in the database when all is over, in the words that the rules of check.ts use.

type Kind = 'offline_repairs' | 'trade_returns';

export type Kept = Awaited<ReturnType<typeof readKept>>;
export type KeptRma = Kept['rmas'][number];
export type KeptEvent = Kept['events'][number];
export type KeptDelivery = Kept['deliveries'][number];

export const originOf = ({ clientId }: Pick<KeptRma, 'clientId'>): 'API' | 'STAFF' =>
  clientId === null ? 'STAFF' : 'API';

const readShops = async (db: Db) => {
  const shops = await db.selectFrom('shops').selectAll().execute();
  const counters = await db.selectFrom('shop_counters').selectAll().execute();
  return shops.map((row) => {
    const counter = counters.find(({ shop_id }) => shop_id === row.id);
    return {
      id: row.id,
      allowance: shopFrom(row).billing.limit,
      /** `2026-11`, and how many places are taken in it. */
      month: counter?.month ?? '',
      used: counter?.month_used ?? 0,
      lastNumber: counter?.last_number ?? 0,
    };
  });
};

const readRmas = async (db: Db, kind: Kind) => {
  const rows = await db
    .selectFrom(kind)
    .select(['id', 'shop_id', 'receiver_id', 'number', 'status', 'external_ref', 'created_at', 'erased_at'])
    .execute();
  return rows.map((row) => ({
    id: row.id,
    shopId: row.shop_id,
    /** null where the shop's staff created it. */
    clientId: row.receiver_id,
    kind,
    number: row.number,
    status: row.status as string,
    externalRef: row.external_ref,
    createdAt: row.created_at,
    erasedAt: row.erased_at,
  }));
};

export const readKept = async (db: Db) => {
  const totals = await db.selectFrom('rma_totals').selectAll().execute();
  const clients = await db
    .selectFrom('api_clients')
    .select('id')
    .where('webhook_url', 'is not', null)
    .where('revoked_at', 'is', null)
    .execute();
  const timeline = await db.selectFrom('timeline').select(['rma_id', 'at', 'type']).orderBy('at').execute();
  const events = await db.selectFrom('events').selectAll().orderBy('shop_id').orderBy('position').execute();
  const deliveries = await db
    .selectFrom('webhook_deliveries')
    .select(['id', 'status', 'attempts', 'attempt_log'])
    .execute();
  return {
    shops: await readShops(db),
    receivingClients: clients.map(({ id }) => id),
    rmas: [...(await readRmas(db, 'offline_repairs')), ...(await readRmas(db, 'trade_returns'))],
    totals: totals.map(({ shop_id, status, ...total }) => ({
      shopId: shop_id,
      status: status as string,
      ...total,
    })),
    timeline: timeline.map(({ rma_id, at, type }) => ({ rmaId: rma_id, at, type: type as string })),
    events: events.map(({ shop_id, rma_id, event, ...rest }) => ({
      shopId: shop_id,
      rmaId: rma_id,
      event: event as string,
      ...rest,
    })),
    deliveries: deliveries.map(({ attempt_log, ...delivery }) => ({
      ...delivery,
      log: readAttempts(attempt_log),
    })),
  };
};
