import type { Delivery, DeliveryQuery } from '../../contract/admin.ts';
import { listEnvelope } from '../../contract/common.ts';
import { DELIVERY_COLUMNS } from '../db/columns.ts';
import type { Db } from '../db/database.ts';
import type { Row } from '../db/tables.ts';
import { instant } from '../instant.ts';
import { readAttempts } from './attempts.ts';

export const viewDelivery = (row: Row<'webhook_deliveries'>): Delivery => ({
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

/** What was and will be sent to a client, newest first. The caller has made sure that the client is its own. */
export const listDeliveries = async (db: Db, clientId: string, query: DeliveryQuery) => {
  const { status, event, page, limit } = query;
  const matching = () => {
    const ofClient = db.selectFrom('webhook_deliveries').where('client_id', '=', clientId);
    const ofStatus = status ? ofClient.where('status', '=', status) : ofClient;
    return event ? ofStatus.where('event', '=', event) : ofStatus;
  };
  const [rows, { total }] = await Promise.all([
    matching()
      .select(DELIVERY_COLUMNS)
      .orderBy('id', 'desc')
      .limit(limit)
      .offset((page - 1) * limit)
      .execute(),
    matching()
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow(),
  ]);
  return listEnvelope(rows.map(viewDelivery), total, query);
};
