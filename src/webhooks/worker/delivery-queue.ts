import { sql } from 'kysely';
import type { Plan } from '../../../contract/admin-people.ts';
import type { WebhookEventName } from '../../../contract/webhook-event.ts';
import { statement } from '../../db/statements.ts';
import type { Core } from '../../platform/core.ts';
import { MAX_RETRY_DELAY_MS } from '../policy.ts';
import { DROP_REASONS, deliveryBody, FIRST_ATTEMPT, PENDING, RETRY, selectPendingIds } from '../queue.ts';

// The dispatcher reads and drops deliveries with these statements. A delivery is PENDING until it is DELIVERED or DROPPED.

export interface DueDelivery {
  id: string;
  receiverId: string;
  event: WebhookEventName;
  /** The bytes to send, or null if they cannot be read. */
  body: Buffer | null;
  attemptsBefore: number;
  /** The earlier attempts in the format of the column `attempt_log`. */
  log: string;
  createdAt: number;
}

/** The number of receivers that one scan statement finds, with an index step for each: SQLite blocks the process meanwhile. */
export const SCAN_CHUNK = 1_000;

/** A receiver with pending deliveries, and the earliest and latest due time of its retries. */
export interface WaitingReceiver {
  receiverId: string;
  firstDueAt: number;
  lastDueAt: number;
}

/** Finds the receivers after an id that have pending first attempts or retries. First attempts are always due. */
export const waitingReceivers = async (
  { webhooks: db }: Core,
  queue: 'first attempts' | 'retries',
  after: string,
): Promise<WaitingReceiver[]> => {
  const isPending = queue === 'retries' ? RETRY : FIRST_ATTEMPT;
  const next = (previousId: unknown) => sql`(
    select receiver_id from webhook_deliveries where ${isPending} and receiver_id > ${previousId} order by receiver_id limit 1
  )`;
  // The result is null if the receiver's only retry was settled meanwhile.
  const dueAt = (extreme: 'min' | 'max') => sql`coalesce((
    select ${sql.raw(extreme)}(due_at) from webhook_deliveries where ${isPending} and receiver_id = receivers.receiver_id
  ), 0)`;
  const [first, last] = queue === 'retries' ? [dueAt('min'), dueAt('max')] : [sql.lit(0), sql.lit(0)];
  const { rows } = await sql<WaitingReceiver>`
    with recursive receivers(receiver_id, n) as (
      select ${next(after)}, 1
      union all
      select ${next(sql.ref('receivers.receiver_id'))}, n + 1 from receivers
      where receiver_id is not null and n < ${sql.lit(SCAN_CHUNK)}
    )
    select receiver_id as "receiverId", ${first} as "firstDueAt", ${last} as "lastDueAt"
    from receivers where receiver_id is not null order by receiver_id`.execute(db);
  return rows;
};

interface DueQuery {
  receivers: object[];
  unsettled: string[];
  most: number;
  nowMs: number;
  latestMs: number;
}

/** Finds the ids of the next deliveries for each receiver first, then reads their rows by id. */
const dueDeliveries = statement((engine, { receivers, unsettled, most, nowMs, latestMs }: DueQuery) => {
  const isDue = sql<boolean>`${RETRY} and due_at <= ${nowMs}`;
  const isTooFarAhead = sql<boolean>`${RETRY} and due_at > ${latestMs}`;
  const conditions = [FIRST_ATTEMPT, isDue, isTooFarAhead];
  const waiting = selectPendingIds(engine, { receiver: sql.ref('receiver.id'), unsettled, most, conditions });
  const next = engine.forEachRow('next', sql`${waiting} limit ${most}`);
  const ids = sql`select next.value from ${engine.rows('receiver', { id: 'id' }, receivers)}, ${next}`;
  return sql<Omit<DueDelivery, 'body'> & { body: string | null }>`
    select id, receiver_id as "receiverId", event, attempts as "attemptsBefore", attempt_log as log, created_at as "createdAt",
      ${deliveryBody('due')} as body
    from webhook_deliveries as due where id ${engine.among(ids)}`;
});

/** A retry with a later due time is due now, because a wrong clock wrote that time (ADR 0010). */
export const latestPlausibleDueAt = (nowMs: number): number => nowMs + MAX_RETRY_DELAY_MS;

/**
 * Reads the due deliveries of each receiver, without those in progress and up to a limit: first attempts and retries by due
 * time.
 */
export const readDueDeliveries = async (
  { webhooks, fill }: Core,
  { receiverIds, unsettled, most }: { receiverIds: string[]; unsettled: string[]; most: number },
  nowMs: number,
): Promise<DueDelivery[]> => {
  const receivers = receiverIds.map((id) => ({ id }));
  const values = { receivers, unsettled, most, nowMs, latestMs: latestPlausibleDueAt(nowMs) };
  const { rows } = await webhooks.executeQuery(fill(dueDeliveries, values));
  return rows.map((row) => ({ ...row, body: row.body === null ? null : Buffer.from(row.body) }));
};

/** The limit keeps the statement short; the next round drops the rest. */
const DROP_LIMIT = 5_000;

/** Drops expired deliveries of one receiver in one statement, and returns their number (docs/contract.md). */
export const dropTooOld = async (
  { webhooks: db, oneOf, among }: Core,
  { receiverId, unsettled }: { receiverId: string; unsettled: string[] },
  { nowMs, beforeMs }: { nowMs: number; beforeMs: number },
): Promise<number> => {
  const conditions = [FIRST_ATTEMPT, RETRY].map(
    (condition) => sql<boolean>`${condition} and created_at < ${beforeMs}`,
  );
  const ids = selectPendingIds({ oneOf }, { receiver: receiverId, unsettled, most: DROP_LIMIT, conditions });
  const { numUpdatedRows } = await db
    .updateTable('webhook_deliveries')
    .set({ status: 'DROPPED', finished_at: nowMs, reason: DROP_REASONS.tooOld })
    .where('status', '=', PENDING)
    .where(sql<boolean>`id ${among(ids)}`)
    .executeTakeFirst();
  return Number(numUpdatedRows);
};

/** The current destination of a receiver's deliveries, from its only client that was not replaced. */
export interface Destination {
  clientId: string;
  shopId: string;
  url: string | null;
  sealedSecret: string;
  revokedAt: number | null;
  plan: Plan;
  /** The time of the first failed attempt since the last 2xx, or null if none failed. */
  failedSince: number | null;
  /** The due time of the receiver's next retry that is not due yet. */
  nextRetryAt: number | null;
}

interface DestinationLookup {
  receiverIds: string[];
  nowMs: number;
  latestMs: number;
}

const destinationsByReceiver = statement(
  ({ oneOf }, { receiverIds, nowMs, latestMs }: DestinationLookup) => sql<Destination & { id: string }>`
    select client.receiver_id as id, client.id as "clientId", client.shop_id as "shopId", client.webhook_url as url,
      client.webhook_secret as "sealedSecret", client.revoked_at as "revokedAt", shop.plan, failures.since as "failedSince",
      (select min(due_at) from webhook_deliveries
        where receiver_id = client.receiver_id and ${RETRY} and due_at > ${nowMs} and due_at <= ${latestMs}) as "nextRetryAt"
    from api_clients as client join shops as shop on shop.id = client.shop_id
    left join webhook_failures as failures on failures.receiver_id = client.receiver_id
    where client.receiver_id ${oneOf('id', receiverIds)} and client.replaced_by is null`,
);

/** A new URL, a replacement, a revocation and a new plan apply from the next attempt on. */
export const readDestinations = async (
  { webhooks, fill }: Core,
  receiverIds: string[],
  nowMs: number,
): Promise<Map<string, Destination>> => {
  const values = { receiverIds, nowMs, latestMs: latestPlausibleDueAt(nowMs) };
  const { rows } = await webhooks.executeQuery(fill(destinationsByReceiver, values));
  return new Map(rows.map((row) => [row.id, row]));
};
