import { sql } from 'kysely';
import type { Plan } from '../../../contract/admin-people.ts';
import type { WebhookEventName } from '../../../contract/webhook-event.ts';
import { statement } from '../../db/statements.ts';
import type { Core } from '../../platform/core.ts';
import { LONGEST_WAIT_MS } from '../policy.ts';
import { DROPPED_BECAUSE, FIRST_ATTEMPT, PENDING, RETRY, waitingFor, wholeBody } from '../queue.ts';

// What the dispatcher asks the database. A delivery is PENDING until it ends as DELIVERED or DROPPED.

export interface Due {
  id: string;
  receiverId: string;
  event: WebhookEventName;
  /** The bytes that are sent; null: they cannot be read. */
  body: Buffer | null;
  before: number;
  /** The attempts before, as the column has them. */
  log: string;
  createdAt: number;
}

/** A receiver costs one step through an index, however much waits for it. In parts: SQLite blocks the process meanwhile. */
export const SCANNED_AT_ONCE = 1_000;

/** A receiver with something waiting; the times of its first and last retry. */
export interface Waiting {
  receiverId: string;
  firstDueAt: number;
  lastDueAt: number;
}

/** The next receivers after this one that first attempts, or retries, wait for. First attempts are always due. */
export const waitingReceivers = async (
  { webhooks: db }: Core,
  which: 'first attempts' | 'retries',
  after: string,
): Promise<Waiting[]> => {
  const isIt = which === 'retries' ? RETRY : FIRST_ATTEMPT;
  const next = (than: unknown) => sql`(
    select receiver_id from webhook_deliveries where ${isIt} and receiver_id > ${than} order by receiver_id limit 1
  )`;
  // Its last retry may have been settled since.
  const dueAt = (extreme: 'min' | 'max') => sql`coalesce((
    select ${sql.raw(extreme)}(due_at) from webhook_deliveries where ${isIt} and receiver_id = receivers.receiver_id
  ), 0)`;
  const [first, last] = which === 'retries' ? [dueAt('min'), dueAt('max')] : [sql.lit(0), sql.lit(0)];
  const { rows } = await sql<Waiting>`
    with recursive receivers(receiver_id, n) as (
      select ${next(after)}, 1
      union all
      select ${next(sql.ref('receivers.receiver_id'))}, n + 1 from receivers
      where receiver_id is not null and n < ${sql.lit(SCANNED_AT_ONCE)}
    )
    select receiver_id as "receiverId", ${first} as "firstDueAt", ${last} as "lastDueAt"
    from receivers where receiver_id is not null order by receiver_id`.execute(db);
  return rows;
};

interface ToRead {
  receivers: object[];
  unsettled: string[];
  most: number;
  nowMs: number;
  furthestMs: number;
}

/** The ids of the next deliveries for each receiver are found first, the rows then by their ids. */
const dueOfEach = statement((engine, { receivers, unsettled, most, nowMs, furthestMs }: ToRead) => {
  const isDue = sql<boolean>`${RETRY} and due_at <= ${nowMs}`;
  const isTooFarAhead = sql<boolean>`${RETRY} and due_at > ${furthestMs}`;
  const kinds = [FIRST_ATTEMPT, isDue, isTooFarAhead];
  const waiting = waitingFor(engine, { receiver: sql.ref('receiver.id'), unsettled, most, kinds });
  const next = engine.forEachRow('next', sql`${waiting} limit ${most}`);
  const ids = sql`select next.value from ${engine.rows('receiver', { id: 'id' }, receivers)}, ${next}`;
  return sql<Omit<Due, 'body'> & { body: string | null }>`
    select id, receiver_id as "receiverId", event, attempts as "before", attempt_log as log, created_at as "createdAt",
      ${wholeBody('due')} as body
    from webhook_deliveries as due where id ${engine.among(ids)}`;
});

/** A retry that is due further ahead than this is due now: the clock that wrote its time was wrong (ADR 0010). */
export const furthestDueAt = (nowMs: number): number => nowMs + LONGEST_WAIT_MS;

/**
 * Due deliveries of each receiver, so many at most and none that is being sent: first attempts and retries in the order in which
 * they fell due.
 */
export const due = async (
  { webhooks, fill }: Core,
  { receiverIds, unsettled, most }: { receiverIds: string[]; unsettled: string[]; most: number },
  nowMs: number,
): Promise<Due[]> => {
  const receivers = receiverIds.map((id) => ({ id }));
  const values = { receivers, unsettled, most, nowMs, furthestMs: furthestDueAt(nowMs) };
  const { rows } = await webhooks.executeQuery(fill(dueOfEach, values));
  return rows.map((row) => ({ ...row, body: row.body === null ? null : Buffer.from(row.body) }));
};

/** Bounded, so that the statement is short; the next round drops the rest. */
const DROPPED_AT_ONCE = 5_000;

/** Drops what waited too long for one receiver, in one statement; returns how many (docs/contract.md). */
export const dropTooOld = async (
  { webhooks: db, oneOf, among }: Core,
  { receiverId, unsettled }: { receiverId: string; unsettled: string[] },
  { nowMs, beforeMs }: { nowMs: number; beforeMs: number },
): Promise<number> => {
  const kinds = [FIRST_ATTEMPT, RETRY].map((kind) => sql<boolean>`${kind} and created_at < ${beforeMs}`);
  const ids = waitingFor({ oneOf }, { receiver: receiverId, unsettled, most: DROPPED_AT_ONCE, kinds });
  const { numUpdatedRows } = await db
    .updateTable('webhook_deliveries')
    .set({ status: 'DROPPED', finished_at: nowMs, reason: DROPPED_BECAUSE.tooOld })
    .where('status', '=', PENDING)
    .where(sql<boolean>`id ${among(ids)}`)
    .executeTakeFirst();
  return Number(numUpdatedRows);
};

/** Where deliveries of a receiver go now: to its client that was not replaced. */
export interface Destination {
  clientId: string;
  shopId: string;
  url: string | null;
  sealedSecret: string;
  revokedAt: number | null;
  plan: Plan;
  /** When the first attempt since its last 2xx failed; null: none did. */
  failedSince: number | null;
  /** When the receiver's first retry that is not due yet falls due. */
  nextRetryAt: number | null;
}

interface DestinationLookup {
  receiverIds: string[];
  nowMs: number;
  furthestMs: number;
}

const destinationsByReceiver = statement(
  ({ oneOf }, { receiverIds, nowMs, furthestMs }: DestinationLookup) => sql<Destination & { id: string }>`
    select client.receiver_id as id, client.id as "clientId", client.shop_id as "shopId", client.webhook_url as url,
      client.webhook_secret as "sealedSecret", client.revoked_at as "revokedAt", shop.plan, failures.since as "failedSince",
      (select min(due_at) from webhook_deliveries
        where receiver_id = client.receiver_id and ${RETRY} and due_at > ${nowMs} and due_at <= ${furthestMs}) as "nextRetryAt"
    from api_clients as client join shops as shop on shop.id = client.shop_id
    left join webhook_failures as failures on failures.receiver_id = client.receiver_id
    where client.receiver_id ${oneOf('id', receiverIds)} and client.replaced_by is null`,
);

/** A new URL, a replacement, a revocation and a new plan count from the next attempt on. */
export const destinationsOf = async (
  { webhooks, fill }: Core,
  receiverIds: string[],
  nowMs: number,
): Promise<Map<string, Destination>> => {
  const values = { receiverIds, nowMs, furthestMs: furthestDueAt(nowMs) };
  const { rows } = await webhooks.executeQuery(fill(destinationsByReceiver, values));
  return new Map(rows.map((row) => [row.id, row]));
};
