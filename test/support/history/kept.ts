import type { Db } from '../../../src/db/database.ts';
import type { DeliveryStatus } from '../../../src/db/schema.ts';
import { shopFrom } from '../../../src/shops/plans.ts';
import { type Attempt, readAttempts } from '../../../src/webhooks/queue.ts';

// What stands in the database when all is over, in the words that the rules of check.ts use.

type Kind = 'offline_repairs' | 'trade_returns';
type Origin = 'API' | 'STAFF';

interface KeptShop {
  id: string;
  /** null: none. */
  allowance: number | null;
  /** `2026-11`, and how many places are taken in it. */
  month: string;
  used: number;
  lastNumber: number;
}

export interface KeptRma {
  id: string;
  shopId: string;
  /** null where the shop's staff made it. */
  clientId: string | null;
  kind: Kind;
  number: number;
  status: string;
  externalRef: string | null;
  createdAt: number;
}

export interface KeptEvent {
  id: string;
  shopId: string;
  position: number;
  rmaId: string;
  event: string;
  at: number;
  body: string;
}

export interface KeptDelivery {
  id: string;
  status: DeliveryStatus;
  attempts: number;
  /** null where it cannot be read. */
  log: Attempt[] | null;
}

export interface Kept {
  shops: KeptShop[];
  /** Those whose events are sent somewhere. */
  receivingClients: string[];
  rmas: KeptRma[];
  totals: { shopId: string; kind: Kind; origin: Origin; status: string; count: number }[];
  timeline: { rmaId: string; at: number; type: string }[];
  /** In the order of their positions. */
  events: KeptEvent[];
  deliveries: KeptDelivery[];
}

export const originOf = ({ clientId }: Pick<KeptRma, 'clientId'>): Origin =>
  clientId === null ? 'STAFF' : 'API';

const readShops = async (db: Db): Promise<KeptShop[]> => {
  const shops = await db.selectFrom('shops').selectAll().execute();
  const counters = await db.selectFrom('shop_counters').selectAll().execute();
  return shops.map((row) => {
    const counter = counters.find(({ shop_id }) => shop_id === row.id);
    return {
      id: row.id,
      allowance: shopFrom(row).billing.limit,
      month: counter?.month ?? '',
      used: counter?.month_used ?? 0,
      lastNumber: counter?.last_number ?? 0,
    };
  });
};

const readRmas = async (db: Db, kind: Kind): Promise<KeptRma[]> => {
  const rows = await db
    .selectFrom(kind)
    .select(['id', 'shop_id', 'client_id', 'number', 'status', 'external_ref', 'created_at'])
    .execute();
  return rows.map((row) => ({
    id: row.id,
    shopId: row.shop_id,
    clientId: row.client_id,
    kind,
    number: row.number,
    status: row.status,
    externalRef: row.external_ref,
    createdAt: row.created_at,
  }));
};

export const readKept = async (db: Db): Promise<Kept> => {
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
    totals: totals.map(({ shop_id, ...total }) => ({ shopId: shop_id, ...total })),
    timeline: timeline.map(({ rma_id, at, type }) => ({ rmaId: rma_id, at, type })),
    events: events.map(({ shop_id, rma_id, ...event }) => ({ shopId: shop_id, rmaId: rma_id, ...event })),
    deliveries: deliveries.map(({ attempt_log, ...delivery }) => ({
      ...delivery,
      log: readAttempts(attempt_log),
    })),
  };
};
