import type { ExpressionBuilder } from 'kysely';
import type { Delivery, DeliveryQuery } from '../../contract/admin.ts';
import type { Context } from '../context.ts';
import { DELIVERY_COLUMNS } from '../db/columns.ts';
import type { Row, Tables } from '../db/tables.ts';
import { instant } from '../instant.ts';
import { answerPage, type FoundPage, type PageAnswer } from '../paging/page-answer.ts';
import { longestText, rowCount, sizedColumns } from '../paging/row-size.ts';
import { readAttempts } from './attempts.ts';
import { wholeBody } from './queue.ts';

type DeliveryRow = Row<'webhook_deliveries'>;

const COLUMNS = {
  all: DELIVERY_COLUMNS,
  longTexts: ['body'],
  behindFirst: ['status', 'attempts', 'attempt_log', 'due_at', 'created_at', 'finished_at', 'reason'],
} as const;

const withBodies = (eb: ExpressionBuilder<Tables, never>) =>
  eb
    .selectFrom('webhook_deliveries as delivery')
    .select(DELIVERY_COLUMNS.filter((column) => column !== 'body'))
    .select(wholeBody('delivery').$castTo<string>().as('body'))
    .as('webhook_deliveries');

export const viewDelivery = (row: DeliveryRow): Delivery => ({
  id: row.id,
  event: row.event,
  status: row.status,
  rmaId: row.rma_id,
  createdAt: instant(row.created_at),
  finishedAt: row.finished_at === null ? null : instant(row.finished_at),
  nextAttemptAt: row.status === 'PENDING' ? instant(row.due_at) : null,
  reason: row.reason,
  attempts: (readAttempts(row.attempt_log) ?? []).map((attempt) => ({
    ...attempt,
    at: instant(attempt.at),
  })),
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

/** What was and will be sent to a client of the shop, newest first. The caller has made sure that the client is its own. */
export const listDeliveries = async (
  ctx: Context,
  shopId: string,
  clientId: string,
  query: DeliveryQuery,
): Promise<PageAnswer<Delivery>> => {
  const { status, event, page, limit } = query;
  const matching = () => {
    const ofClient = ctx.db.selectFrom(withBodies).where('client_id', '=', clientId);
    const ofStatus = status ? ofClient.where('status', '=', status) : ofClient;
    return event ? ofStatus.where('event', '=', event) : ofStatus;
  };
  const [rows, { total }] = await Promise.all([
    matching()
      .select(sizedColumns(COLUMNS, longestText(limit)))
      .orderBy('id', 'desc')
      .limit(rowCount(limit))
      .offset(rowCount((page - 1) * limit))
      .execute(),
    matching()
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow(),
  ]);
  const source = {
    name: 'webhook_deliveries',
    view: viewDelivery,
    keyOf: ({ id }: DeliveryRow) => id,
    readWhole: (ids: string[]) =>
      ctx.db.selectFrom(withBodies).select(DELIVERY_COLUMNS).where('id', 'in', ids).execute(),
  };
  return answerPage(ctx, shopId, source, { rows, total } as FoundPage<DeliveryRow>, query);
};
