import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { Delivery } from '../../contract/admin.ts';
import { isId } from '../../contract/common.ts';
import type {
  WebhookDelivery,
  WebhookDeliveryQuery,
  WebhookDeliveryWithBody,
} from '../../contract/delivery.ts';
import { DELIVERY_COLUMNS, type DeliveryStatus, type Row, type Tables } from '../db/schema.ts';
import { type Engine, rowCount, statement, statementsBy } from '../db/statements.ts';
import { KEPT_MS } from '../events/event.ts';
import { lowestId } from '../lib/ids.ts';
import { toIso } from '../lib/time.ts';
import { answerPage, type PageAnswer, totalOfLastPage, WHOLE_ROWS } from '../paging/page-answer.ts';
import type { Context } from '../service/context.ts';
import { ServiceError } from '../service/errors.ts';
import { DROPPED_BECAUSE, FIRST_ATTEMPT, RETRY, readAttempts, wholeBody } from './queue.ts';

// What programs and the admin app see of a client's deliveries.

type DeliveryRow = Row<'webhook_deliveries'>;
type Deliveries = SelectQueryBuilder<Tables, 'webhook_deliveries', object>;

const WITHOUT_BODY = DELIVERY_COLUMNS.filter((column) => column !== 'body');

/** What a list reads of its rows. Without bodies all of a page is small. */
type Columns = 'without bodies' | 'with bodies' | 'ids';
const selected = (deliveries: Deliveries, columns: Columns) => {
  if (columns === 'ids') return deliveries.select('id').$castTo<DeliveryRow>();
  const body = columns === 'with bodies' ? wholeBody('webhook_deliveries') : sql<null>`null`;
  return deliveries
    .select(WITHOUT_BODY)
    .select(sql<string>`coalesce(${body}, '')`.as('body'))
    .$castTo<DeliveryRow>();
};

interface Shape {
  /** In the text, as in `queue.ts`: those that wait and those that were dropped have indexes. */
  status: DeliveryStatus | undefined;
  ofEvent: boolean;
  ofRma: boolean;
}

interface Values {
  client: string;
  since: string;
  event: string | undefined;
  rma: string | undefined;
}

/** Each way uses the indexes there are. */
const OF_STATUS: Record<DeliveryStatus, (db: Engine['db'], client: string) => Expression<SqlBool>> = {
  PENDING: (db, client) => {
    const waiting = db.selectFrom('webhook_deliveries').select('id').where('client_id', '=', client);
    return sql`id in ${waiting.where(FIRST_ATTEMPT).unionAll(waiting.where(RETRY))}`;
  },
  DELIVERED: () => sql`status = 'DELIVERED'`,
  DROPPED: () => sql`status = 'DROPPED'`,
};

/**
 * A client's deliveries since an id: ids rise with time. Between the client and itself, so that the index of clients has the order
 * and no other: a kept plan would go through all ids there are, also for a client that has none.
 */
const matching = ({ db }: Engine, shape: Shape, { client, since, event, rma }: Values): Deliveries => {
  const all = db.selectFrom('webhook_deliveries').where('id', '>=', since);
  // Those of an RMA and those that wait have indexes of their own.
  let found: Deliveries =
    shape.ofRma || shape.status === 'PENDING'
      ? all.where('client_id', '=', client)
      : all.where('client_id', '>=', client).where('client_id', '<=', client);
  if (shape.status) found = found.where(OF_STATUS[shape.status](db, client));
  if (shape.ofEvent) found = found.where('event', '=', event as DeliveryRow['event']);
  if (shape.ofRma) found = found.where('rma_id', '=', rma as string);
  return found;
};

const pageOfDeliveries = statementsBy(({ columns, ...shape }: Shape & { columns: Columns }) =>
  statement((engine, params: Values & { limit: number; offset: number }) =>
    selected(matching(engine, shape, params), columns)
      .orderBy('client_id', 'desc')
      .orderBy('id', 'desc')
      .limit(rowCount(params.limit))
      .offset(rowCount(params.offset)),
  ),
);

const countOfDeliveries = statementsBy((shape: Shape) =>
  statement((engine, params: Values) =>
    matching(engine, shape, params).select((eb) => eb.fn.countAll<number>().as('total')),
  ),
);

const deliveriesById = statementsBy((columns: Columns) =>
  statement(({ db, oneOf }, { ids }: { ids: string[] }) =>
    selected(db.selectFrom('webhook_deliveries'), columns).where(sql<boolean>`id ${oneOf('id', ids)}`),
  ),
);

const oneDelivery = statement(
  ({ db }, { id, client, since }: { id: string; client: string; since: string }) =>
    db
      .selectFrom('webhook_deliveries')
      .select(WITHOUT_BODY)
      .select(wholeBody('webhook_deliveries').as('body'))
      .where('id', '=', id)
      .where('client_id', '=', client)
      .where('id', '>=', since),
);

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
  finishedAt: row.finished_at === null ? null : toIso(row.finished_at),
  payload: payloadOf(row.body),
});

/** A damaged body is shown as it stands. */
const payloadOf = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
};

/** Older ones may still be there until they are deleted. */
const shownSince = ({ clock }: Pick<Context, 'clock'>): string => lowestId(clock.now() - KEPT_MS);

interface Receiver {
  shopId: string;
  clientId: string;
}

interface Readers<Item> {
  /** What programs ask never shares connections with the admin app. */
  connection: 'lists' | 'db';
  columns: Columns;
  view(row: DeliveryRow): Item;
}

/** What was and will be sent to a client, newest first. */
const listFor =
  <Item>({ connection, columns, view }: Readers<Item>) =>
  async (
    ctx: Context,
    { shopId, clientId }: Receiver,
    query: WebhookDeliveryQuery,
  ): Promise<PageAnswer<Item>> => {
    const { status, event, rmaId: rma, page, limit } = query;
    const db = ctx[connection];
    const shape = { status, ofEvent: event !== undefined, ofRma: rma !== undefined };
    const values = { client: clientId, since: shownSince(ctx), event, rma };
    const whole = columns === 'without bodies' || limit <= WHOLE_ROWS;
    const statement = pageOfDeliveries({ ...shape, columns: whole ? columns : 'ids' });
    const { rows } = await db.executeQuery(
      ctx.fill(statement, { ...values, limit, offset: (page - 1) * limit }),
    );
    const count = async () => (await db.executeQuery(ctx.fill(countOfDeliveries(shape), values))).rows[0];
    const total = totalOfLastPage(query, rows.length) ?? (await count())?.total ?? 0;
    const source = {
      name: 'webhook_deliveries',
      view,
      keyOf: ({ id }: DeliveryRow) => id,
      readRows: async (ids: string[]) =>
        (await db.executeQuery(ctx.fill(deliveriesById(columns), { ids }))).rows,
    };
    const found = whole ? { rows, keys: [], total } : { rows: [], keys: rows.map(({ id }) => id), total };
    return answerPage(ctx, shopId, source, found, query);
  };

export const listDeliveries = listFor({
  connection: 'lists',
  columns: 'without bodies',
  view: viewDelivery,
});

/** For the admin app, with what was sent. The caller has made sure that the client is of its own shop. */
export const listDeliveriesWithPayloads = listFor({
  connection: 'db',
  columns: 'with bodies',
  view: viewWithPayload,
});

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
