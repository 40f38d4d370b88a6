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
import { DROPPED_BECAUSE, endedUnder, FIRST_ATTEMPT, RETRY, readAttempts, wholeBody } from './queue.ts';
import type { WebhookServices } from './services.ts';

// A client's deliveries, as the external API and the admin app show them.

type DeliveryRow = Row<'webhook_deliveries'>;
type Deliveries = SelectQueryBuilder<Tables, 'webhook_deliveries', object>;

const WITHOUT_BODY = DELIVERY_COLUMNS.filter((column) => column !== 'body');

const selected = (deliveries: Deliveries, withBodies: boolean) => {
  const body = withBodies ? wholeBody('webhook_deliveries') : sql<null>`null`;
  return deliveries.select(WITHOUT_BODY).select(sql<string>`coalesce(${body}, '')`.as('body'));
};

/** What says which deliveries are a client's. */
interface DeliveryClient {
  id: string;
  receiverId: string;
  createdAt: number;
  replacedAt: number | null;
}

/**
 * A client's deliveries since an id: ids rise with time. Between the receiver and itself, so that the index of receivers has the
 * order and no other: a kept plan would go through all ids there are, also for a receiver that has none.
 */
const matching = (
  db: Db,
  client: DeliveryClient,
  since: string,
  { status, event, rmaId }: WebhookDeliveryQuery,
) => {
  const { receiverId } = client;
  const all = db.selectFrom('webhook_deliveries').where('id', '>=', since);
  // Those of an RMA and those that wait have indexes of their own.
  let found: Deliveries =
    rmaId !== undefined || status === 'PENDING'
      ? all.where('receiver_id', '=', receiverId)
      : all.where('receiver_id', '>=', receiverId).where('receiver_id', '<=', receiverId);
  // Otherwise all of its receiver's are its own, and an index is all that a count reads.
  const isOneOfSeveral = client.id !== receiverId || client.replacedAt !== null;
  if (isOneOfSeveral)
    found = found.where(endedUnder('webhook_deliveries', client.createdAt, client.replacedAt));
  // The status is in the text, as in `queue.ts`: those that wait and those that were dropped have indexes.
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
  reason: row.status === 'DROPPED' ? (row.reason ?? DROPPED_BECAUSE.unknown) : null,
  attempts: (readAttempts(row.attempt_log) ?? []).map((attempt) => ({
    ...attempt,
    at: toIso(attempt.at),
  })),
});

export const viewWithPayload = (row: DeliveryRow): Delivery => ({
  ...viewDelivery(row),
  finishedAt: isoOrNull(row.finished_at),
  // A damaged body is shown as it stands.
  payload: jsonOr(row.body, row.body),
});

/** Older ones may still be there until they are deleted. */
const shownSince = ({ clock }: Pick<Core, 'clock'>): string => lowestId(clock.now() - KEPT_MS);

interface ShopClient {
  shopId: string;
  client: DeliveryClient;
}

/** What was and will be sent to a client, newest first. */
const listFor = async <Item>(
  ctx: WebhookServices,
  { shopId, client }: ShopClient,
  query: WebhookDeliveryQuery,
  view: (row: DeliveryRow) => Item,
  { withBodies }: { withBodies: boolean },
): Promise<PageResponse<Item>> => {
  const { page, limit } = query;
  // An index leads to the deliveries of one return, which are few. What else is asked counts all that a client was sent.
  const isLight = query.rmaId !== undefined;
  // What API clients ask never shares connections with the admin app.
  const lightDb = withBodies ? ctx.db : ctx.lists;
  const db = isLight ? lightDb : ctx.scans;
  const all = matching(db, client, shownSince(ctx), query);
  const inOrder = all
    .orderBy('receiver_id', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .offset((page - 1) * limit);
  // Without bodies all of a page is small.
  const whole = !withBodies || limit <= MAX_FULL_ROWS;
  const find = async () => {
    const rows = whole ? await selected(inOrder, withBodies).execute() : [];
    const keys = whole ? [] : (await inOrder.select('id').execute()).map(({ id }) => id);
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
      selected(lightDb.selectFrom('webhook_deliveries'), withBodies)
        .where(sql<boolean>`id ${ctx.oneOf('id', ids)}`)
        .execute(),
  };
  return ctx.pageResponses.build(shopId, source, found, query);
};

/** Of the client whose key this is. */
const findOwn = (db: Db, { actor }: Caller): Promise<DeliveryClient> =>
  db
    .selectFrom('api_clients')
    .select(['id', 'receiver_id as receiverId', 'created_at as createdAt', 'replaced_at as replacedAt'])
    .where('id', '=', actor.id)
    .executeTakeFirstOrThrow();

export const listDeliveries = async (ctx: WebhookServices, caller: Caller, query: WebhookDeliveryQuery) => {
  const client = await findOwn(ctx.reads, caller);
  return listFor(ctx, { shopId: caller.shop.id, client }, query, viewDelivery, { withBodies: false });
};

/** For the admin app, with what was sent. The caller has made sure that the client is of its own shop. */
export const listDeliveriesWithPayloads = (
  ctx: WebhookServices,
  of: ShopClient,
  query: WebhookDeliveryQuery,
) => listFor(ctx, of, query, viewWithPayload, { withBodies: true });

/** One of the client's own deliveries. Another client's is a 404. */
export const getDelivery = async (
  ctx: WebhookServices,
  caller: Caller,
  id: string,
): Promise<WebhookDeliveryWithBody> => {
  const client = await findOwn(ctx.reads, caller);
  const row = isId(id)
    ? await ctx.reads
        .selectFrom('webhook_deliveries')
        .select(WITHOUT_BODY)
        .select(wholeBody('webhook_deliveries').as('body'))
        .where('id', '=', id)
        .where('receiver_id', '=', client.receiverId)
        .where(endedUnder('webhook_deliveries', client.createdAt, client.replacedAt))
        .where('id', '>=', shownSince(ctx))
        .executeTakeFirst()
    : undefined;
  if (!row) throw new ServiceError('DELIVERY_NOT_FOUND');
  return { ...viewDelivery(row), body: row.body };
};
