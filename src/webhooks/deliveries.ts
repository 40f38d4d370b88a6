import type { Delivery } from '../../contract/admin.ts';
import { isId } from '../../contract/common.ts';
import type {
  WebhookDelivery,
  WebhookDeliveryQuery,
  WebhookDeliveryWithBody,
} from '../../contract/delivery.ts';
import type { Context } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { KEPT_MS } from '../events/event.ts';
import { lowestId } from '../ids.ts';
import { instant } from '../instant.ts';
import { answerPage, type PageAnswer, toldByLastPage } from '../paging/page-answer.ts';
import { longestText } from '../paging/row-size.ts';
import { readAttempts } from './attempts.ts';
import {
  countOfDeliveries,
  type DeliveryRow,
  deliveriesById,
  oneDelivery,
  pageOfDeliveries,
  type Shape,
} from './delivery-statements.ts';
import { DROPPED_BECAUSE } from './drop-reasons.ts';

/** As programs see their own. */
const viewDelivery = (row: Omit<DeliveryRow, 'body'>): WebhookDelivery => ({
  id: row.id,
  event: row.event,
  rmaId: row.rma_id,
  status: row.status,
  createdAt: instant(row.created_at),
  nextAttemptAt: row.status === 'PENDING' ? instant(row.due_at) : null,
  reason: row.status === 'DROPPED' ? (row.reason ?? DROPPED_BECAUSE.unknown) : null,
  attempts: (readAttempts(row.attempt_log) ?? []).map((attempt) => ({
    ...attempt,
    at: instant(attempt.at),
  })),
});

/** As the admin app shows it. */
export const viewWithPayload = (row: DeliveryRow): Delivery => ({
  ...viewDelivery(row),
  finishedAt: row.finished_at === null ? null : instant(row.finished_at),
  payload: payloadOf(row.body),
});

const payloadOf = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    // A damaged row is shown as it stands: whoever looks at the list sees it.
    return body;
  }
};

/** Older ones may still be there until they are cleared away. */
const shownSince = ({ clock }: Pick<Context, 'clock'>): string => lowestId(clock.now() - KEPT_MS);

interface Receiver {
  shopId: string;
  clientId: string;
}

interface Readers<Item> {
  readers: Shape['readers'];
  view(row: DeliveryRow): Item;
}

/** What was and will be sent to a client, newest first. */
const listFor =
  <Item>({ readers, view }: Readers<Item>) =>
  async (
    ctx: Context,
    { shopId, clientId }: Receiver,
    query: WebhookDeliveryQuery,
  ): Promise<PageAnswer<Item>> => {
    const { status, event, rmaId: rma, page, limit } = query;
    const shape = { readers, status, ofEvent: event !== undefined, ofRma: rma !== undefined };
    const values = { client: clientId, since: shownSince(ctx), event, rma };
    // Planned for the client that asks: one may have nearly all deliveries there are, and another none.
    const { db } = ctx;
    const whichPage = { limit, offset: (page - 1) * limit, longest: longestText(limit) };
    const { rows } = await db.executeQuery(ctx.fill(pageOfDeliveries(shape), { ...values, ...whichPage }));
    const count = async () => (await db.executeQuery(ctx.fill(countOfDeliveries(shape), values))).rows[0];
    const total = toldByLastPage(query, rows.length) ?? (await count())?.total ?? 0;
    const source = {
      name: 'webhook_deliveries',
      view,
      keyOf: ({ id }: DeliveryRow) => id,
      readWhole: async (ids: string[]) =>
        (await db.executeQuery(ctx.fill(deliveriesById(readers), { ids }))).rows,
    };
    return answerPage(ctx, shopId, source, { rows, total }, query);
  };

/** For the client itself. */
export const listDeliveries = listFor({ readers: 'programs', view: viewDelivery });

/** For the admin app, with what was sent. The caller has made sure that the client is of its own shop. */
export const listDeliveriesWithPayloads = listFor({ readers: 'people', view: viewWithPayload });

/** One of the client's own deliveries. Another client's is a 404. */
export const getDelivery = async (
  ctx: Context,
  clientId: string,
  id: string,
): Promise<WebhookDeliveryWithBody> => {
  const values = { id, client: clientId, since: shownSince(ctx) };
  const found = isId(id) ? await ctx.reads.executeQuery(ctx.fill(oneDelivery, values)) : null;
  const row = found?.rows[0];
  if (!row) throw new ServiceError('DELIVERY_NOT_FOUND');
  return { ...viewDelivery(row), body: row.body };
};
