import { sql } from 'kysely';
import type { Plan } from '../../../contract/admin-people.ts';
import type { WebhookEventName } from '../../../contract/webhook-event.ts';
import { statement } from '../../db/statements.ts';
import type { Context } from '../../service/context.ts';
import { LONGEST_WAIT_MS } from '../policy.ts';
import { DROPPED_BECAUSE, FIRST_ATTEMPT, PENDING, RETRY, waitingFor, wholeBody } from '../queue.ts';

// What the dispatcher asks the database. A delivery is PENDING until it ends as DELIVERED or DROPPED.

export interface Due {
  id: string;
  clientId: string;
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

/** A client with something waiting; the times of its first and last retry. */
export interface Waiting {
  clientId: string;
  firstDueAt: number;
  lastDueAt: number;
}

/** The next clients after this one that first attempts, or retries, wait for. First attempts are always due. */
export const waitingClients = async (
  { webhooks: db }: Context,
  which: 'first attempts' | 'retries',
  after: string,
): Promise<Waiting[]> => {
  const isIt = which === 'retries' ? RETRY : FIRST_ATTEMPT;
  const next = (than: unknown) => sql`(
    select client_id from webhook_deliveries where ${isIt} and client_id > ${than} order by client_id limit 1
  )`;
  // Its last retry may have been settled since.
  const dueAt = (extreme: 'min' | 'max') => sql`coalesce((
    select ${sql.raw(extreme)}(due_at) from webhook_deliveries where ${isIt} and client_id = clients.client_id
  ), 0)`;
  const [first, last] = which === 'retries' ? [dueAt('min'), dueAt('max')] : [sql.lit(0), sql.lit(0)];
  const { rows } = await sql<Waiting>`
    with recursive clients(client_id, n) as (
      select ${next(after)}, 1
      union all
      select ${next(sql.ref('clients.client_id'))}, n + 1 from clients
      where client_id is not null and n < ${sql.lit(SCANNED_AT_ONCE)}
    )
    select client_id as "clientId", ${first} as "firstDueAt", ${last} as "lastDueAt"
    from clients where client_id is not null order by client_id`.execute(db);
  return rows;
};

interface ToRead {
  clients: object[];
  unsettled: string[];
  most: number;
  nowMs: number;
  furthestMs: number;
}

/** The ids of the next deliveries for each client are found first, the rows then by their ids. */
const dueOfEach = statement((engine, { clients, unsettled, most, nowMs, furthestMs }: ToRead) => {
  const isDue = sql<boolean>`${RETRY} and due_at <= ${nowMs}`;
  const isTooFarAhead = sql<boolean>`${RETRY} and due_at > ${furthestMs}`;
  const kinds = [FIRST_ATTEMPT, isDue, isTooFarAhead];
  const waiting = waitingFor(engine, { client: sql.ref('client.id'), unsettled, most, kinds });
  const next = engine.forEachRow('next', sql`${waiting} limit ${most}`);
  const ids = sql`select next.value from ${engine.rows('client', { id: 'id' }, clients)}, ${next}`;
  return sql<Omit<Due, 'body'> & { body: string | null }>`
    select id, client_id as "clientId", event, attempts as "before", attempt_log as log, created_at as "createdAt",
      ${wholeBody('due')} as body
    from webhook_deliveries as due where id ${engine.among(ids)}`;
});

/** A retry that is due further ahead than this is due now: the clock that wrote its time was wrong (ADR 0010). */
export const furthestDueAt = (nowMs: number): number => nowMs + LONGEST_WAIT_MS;

/**
 * Due deliveries of each client, so many at most and none that is being sent: first attempts and retries in the order in which
 * they fell due.
 */
export const due = async (
  { webhooks, fill }: Context,
  { clientIds, unsettled, most }: { clientIds: string[]; unsettled: string[]; most: number },
  nowMs: number,
): Promise<Due[]> => {
  const clients = clientIds.map((id) => ({ id }));
  const values = { clients, unsettled, most, nowMs, furthestMs: furthestDueAt(nowMs) };
  const { rows } = await webhooks.executeQuery(fill(dueOfEach, values));
  return rows.map((row) => ({ ...row, body: row.body === null ? null : Buffer.from(row.body) }));
};

/** Bounded, so that the statement is short; the next round drops the rest. */
const DROPPED_AT_ONCE = 5_000;

/** Drops what waited too long for one receiver, in one statement; returns how many (docs/contract.md). */
export const dropTooOld = async (
  { webhooks: db, oneOf, among }: Context,
  { clientId, unsettled }: { clientId: string; unsettled: string[] },
  { nowMs, beforeMs }: { nowMs: number; beforeMs: number },
): Promise<number> => {
  const kinds = [FIRST_ATTEMPT, RETRY].map((kind) => sql<boolean>`${kind} and created_at < ${beforeMs}`);
  const ids = waitingFor({ oneOf }, { client: clientId, unsettled, most: DROPPED_AT_ONCE, kinds });
  const { numUpdatedRows } = await db
    .updateTable('webhook_deliveries')
    .set({ status: 'DROPPED', finished_at: nowMs, reason: DROPPED_BECAUSE.tooOld })
    .where('status', '=', PENDING)
    .where(sql<boolean>`id ${among(ids)}`)
    .executeTakeFirst();
  return Number(numUpdatedRows);
};

export interface Destination {
  shopId: string;
  /** The client that replaced it, and gets what waits. */
  replacedBy: string | null;
  url: string | null;
  sealedSecret: string;
  revokedAt: number | null;
  plan: Plan;
  /** When the first attempt since its last 2xx failed; null: none did. */
  failedSince: number | null;
  /** When the client's first retry that is not due yet falls due. */
  nextRetryAt: number | null;
}

interface ClientLookup {
  clientIds: string[];
  nowMs: number;
  furthestMs: number;
}

/** Always one step to a replacement: a damaged row must not send deliveries round in a circle, or to another shop. */
const clientsById = statement(
  ({ oneOf }, { clientIds, nowMs, furthestMs }: ClientLookup) => sql<Destination & { id: string }>`
    select client.id, client.shop_id as "shopId", client.webhook_url as url, client.webhook_secret as "sealedSecret",
      client.revoked_at as "revokedAt", replacement.id as "replacedBy", shop.plan, failures.since as "failedSince",
      (select min(due_at) from webhook_deliveries
        where client_id = client.id and ${RETRY} and due_at > ${nowMs} and due_at <= ${furthestMs}) as "nextRetryAt"
    from api_clients as client join shops as shop on shop.id = client.shop_id
    left join api_clients as replacement on replacement.id = client.replaced_by
      and replacement.shop_id = client.shop_id and replacement.replaced_by is null
    left join webhook_failures as failures on failures.client_id = client.id
    where client.id ${oneOf('id', clientIds)}`,
);

/** A new URL, a revocation and a new plan count from the next attempt on. */
export const destinationsOf = async (
  { webhooks, fill }: Context,
  clientIds: string[],
  nowMs: number,
): Promise<Map<string, Destination>> => {
  const values = { clientIds, nowMs, furthestMs: furthestDueAt(nowMs) };
  const { rows } = await webhooks.executeQuery(fill(clientsById, values));
  return new Map(rows.map((row) => [row.id, row]));
};
