import { type SelectQueryBuilder, sql } from 'kysely';
import type { Delivery } from '../../contract/admin.ts';
import { isId } from '../../contract/common.ts';
import type {
  WebhookDelivery,
  WebhookDeliveryQuery,
  WebhookDeliveryWithBody,
} from '../../contract/delivery.ts';
import { DELIVERY_COLUMNS, type Row, type Tables } from '../db/schema.ts';
import type { Db } from '../db/types.ts';
import { KEPT_MS } from '../events/event.ts';
import { lowestId } from '../lib/ids.ts';
import { jsonOr } from '../lib/json.ts';
import { isoOrNull, toIso } from '../lib/time.ts';
import { MAX_FULL_ROWS, type PageResponse, totalOfLastPage } from '../paging/page-response.ts';
import type { Core } from '../platform/core.ts';
import { ServiceError } from '../platform/errors.ts';
import type { Caller } from '../shops/plans.ts';
import { belongsToClient, DROP_REASONS, deliveryBody, FIRST_ATTEMPT, RETRY, readAttempts } from './queue.ts';
import type { WebhookServices } from './services.ts';

// This file reads a client's deliveries for the external API and the admin app.

type DeliveryRow = Row<'webhook_deliveries'>;
type Deliveries = SelectQueryBuilder<Tables, 'webhook_deliveries', object>;

const COLUMNS_WITHOUT_BODY = DELIVERY_COLUMNS.filter((column) => column !== 'body');

const selectDeliveries = (deliveries: Deliveries, withBodies: boolean) => {
  const body = withBodies ? deliveryBody('webhook_deliveries') : sql<null>`null`;
  return deliveries.select(COLUMNS_WITHOUT_BODY).select(sql<string>`coalesce(${body}, '')`.as('body'));
};

/** The fields that decide which deliveries belong to a client. */
interface DeliveryClient {
  id: string;
  receiverId: string;
  createdAt: number;
  replacedAt: number | null;
}

/**
 * Selects a client's deliveries since an id, since ids rise with time. The range from the receiver to itself makes the index
 * of receivers the only one in this order. A cached plan would otherwise read all ids, even for a receiver without deliveries.
 */
const matchingDeliveries = (
  db: Db,
  client: DeliveryClient,
  since: string,
  { status, event, rmaId }: WebhookDeliveryQuery,
) => {
  const { receiverId } = client;
  const all = db.selectFrom('webhook_deliveries').where('id', '>=', since);
  // Deliveries of a return and pending deliveries have separate indexes.
  let found: Deliveries =
    rmaId !== undefined || status === 'PENDING'
      ? all.where('receiver_id', '=', receiverId)
      : all.where('receiver_id', '>=', receiverId).where('receiver_id', '<=', receiverId);
  // For an only client this filter is omitted: all deliveries of its receiver belong to it, and a count reads just an index.
  const isOneOfSeveral = client.id !== receiverId || client.replacedAt !== null;
  if (isOneOfSeveral)
    found = found.where(belongsToClient('webhook_deliveries', client.createdAt, client.replacedAt));
  // The status is a literal, as in `queue.ts`, so that the indexes of pending and of dropped deliveries are used.
  if (status === 'PENDING') {
    const waiting = db.selectFrom('webhook_deliveries').select('id').where('receiver_id', '=', receiverId);
    found = found.where('id', 'in', waiting.where(FIRST_ATTEMPT).unionAll(waiting.where(RETRY)));
  } else if (status) found = found.where('status', '=', sql.lit(status));
  if (event !== undefined) found = found.where('event', '=', event);
  if (rmaId !== undefined) found = found.where('rma_id', '=', rmaId);
  return found;
};

const viewDelivery = (row: Omit<DeliveryRow, 'body'>): WebhookDelivery => ({
  id: row.id,
  event: row.event,
  rmaId: row.rma_id,
  status: row.status,
  createdAt: toIso(row.created_at),
  nextAttemptAt: row.status === 'PENDING' ? toIso(row.due_at) : null,
  reason: row.status === 'DROPPED' ? (row.reason ?? DROP_REASONS.unknown) : null,
  attempts: (readAttempts(row.attempt_log) ?? []).map((attempt) => ({
    ...attempt,
    at: toIso(attempt.at),
  })),
});

export const viewWithPayload = (row: DeliveryRow): Delivery => ({
  ...viewDelivery(row),
  finishedAt: isoOrNull(row.finished_at),
  // A damaged body is shown unchanged.
  payload: jsonOr(row.body, row.body),
});

/** The lowest id that is shown. Older deliveries may still exist until the clean-up deletes them. */
const lowestShownId = ({ clock }: Pick<Core, 'clock'>): string => lowestId(clock.now() - KEPT_MS);

interface ShopClient {
  shopId: string;
  client: DeliveryClient;
}

/** Lists past and pending deliveries of a client, newest first. */
const listPage = async <Item>(
  ctx: WebhookServices,
  { shopId, client }: ShopClient,
  query: WebhookDeliveryQuery,
  view: (row: DeliveryRow) => Item,
  { withBodies }: { withBodies: boolean },
): Promise<PageResponse<Item>> => {
  const { page, limit } = query;
  // An index finds the few deliveries of one return. Every other filter counts all deliveries of the client.
  const isLight = query.rmaId !== undefined;
  // Requests of API clients never share connections with the admin app.
  const lightDb = withBodies ? ctx.db : ctx.lists;
  const db = isLight ? lightDb : ctx.scans;
  const all = matchingDeliveries(db, client, lowestShownId(ctx), query);
  const inOrder = all
    .orderBy('receiver_id', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .offset((page - 1) * limit);
  // A page without bodies is always small.
  const readsFullRows = !withBodies || limit <= MAX_FULL_ROWS;
  const find = async () => {
    const rows = readsFullRows ? await selectDeliveries(inOrder, withBodies).execute() : [];
    const keys = readsFullRows ? [] : (await inOrder.select('id').execute()).map(({ id }) => id);
    const count = () => all.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
    const total = totalOfLastPage(query, rows.length + keys.length) ?? (await count()).total;
    return { rows, keys, total };
  };
  const found = isLight || withBodies ? await find() : await ctx.heavyLists.run(shopId, find);
  const source = {
    name: 'webhook_deliveries',
    view,
    keyOf: ({ id }: DeliveryRow) => id,
    readRows: (ids: string[]) =>
      selectDeliveries(lightDb.selectFrom('webhook_deliveries'), withBodies)
        .where(sql<boolean>`id ${ctx.oneOf('id', ids)}`)
        .execute(),
  };
  return ctx.pageResponses.build(shopId, source, found, query);
};

/** Finds the client that the API key belongs to. */
const findCallersClient = (db: Db, { actor }: Caller): Promise<DeliveryClient> =>
  db
    .selectFrom('api_clients')
    .select(['id', 'receiver_id as receiverId', 'created_at as createdAt', 'replaced_at as replacedAt'])
    .where('id', '=', actor.id)
    .executeTakeFirstOrThrow();

export const listDeliveries = async (ctx: WebhookServices, caller: Caller, query: WebhookDeliveryQuery) => {
  const client = await findCallersClient(ctx.reads, caller);
  return listPage(ctx, { shopId: caller.shop.id, client }, query, viewDelivery, { withBodies: false });
};

/** Lists deliveries with their payloads, for the admin app. The caller has checked that the client belongs to its shop. */
export const listDeliveriesWithPayloads = (
  ctx: WebhookServices,
  shopClient: ShopClient,
  query: WebhookDeliveryQuery,
) => listPage(ctx, shopClient, query, viewWithPayload, { withBodies: true });

/** Returns one of the client's own deliveries; a delivery of another client is a 404. */
export const getDelivery = async (
  ctx: WebhookServices,
  caller: Caller,
  id: string,
): Promise<WebhookDeliveryWithBody> => {
  const client = await findCallersClient(ctx.reads, caller);
  const row = isId(id)
    ? await ctx.reads
        .selectFrom('webhook_deliveries')
        .select(COLUMNS_WITHOUT_BODY)
        .select(deliveryBody('webhook_deliveries').as('body'))
        .where('id', '=', id)
        .where('receiver_id', '=', client.receiverId)
        .where(belongsToClient('webhook_deliveries', client.createdAt, client.replacedAt))
        .where('id', '>=', lowestShownId(ctx))
        .executeTakeFirst()
    : undefined;
  if (!row) throw new ServiceError('DELIVERY_NOT_FOUND');
  return { ...viewDelivery(row), body: row.body };
};
