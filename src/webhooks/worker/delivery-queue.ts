import { type RawBuilder, sql } from 'kysely';
import type { Plan } from '../../../contract/admin-people.ts';
import type { WebhookEventName } from '../../../contract/webhook-event.ts';
import { type Engine, statement } from '../../db/statements.ts';
import type { Context } from '../../service/context.ts';
import { hasApi } from '../../shops/plans.ts';
import {
  type Attempt,
  DROPPED_BECAUSE,
  FIRST_ATTEMPT,
  PENDING,
  RETRY,
  readAttempts,
  waitingFor,
  wholeBody,
} from '../queue.ts';

// What the dispatcher asks the database. A delivery is PENDING until it ends as DELIVERED or DROPPED.

export interface Due {
  id: string;
  clientId: string;
  event: WebhookEventName;
  /** The bytes that are sent; null: they cannot be read. */
  body: Buffer | null;
  before: number;
  /** null: they cannot be read. */
  attempts: Attempt[] | null;
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

/** Of which clients, and which of their deliveries are being sent already. */
interface ToRead {
  clientIds: string[];
  unsettled: string[];
}

const asRows = (clientIds: string[]) => clientIds.map((id) => ({ id }));

/** The ids of the next deliveries for each client are found first, the rows then by their ids. */
const dueOfEach = statement(
  (
    { rows, oneOf, among, forEachRow }: Engine,
    params: { clients: object[]; unsettled: string[]; most: number; nowMs: number },
  ) => {
    const waiting = (which: RawBuilder<boolean>, name: string) => sql`
      select * from (
        select id, due_at from webhook_deliveries
        where client_id = client.id and ${which} and not (id ${oneOf('id', params.unsettled)})
        order by due_at limit ${params.most}
      ) as ${sql.id(name)}`;
    const next = sql`
      select id from (
        ${waiting(FIRST_ATTEMPT, 'first')} union all
        ${waiting(sql<boolean>`${RETRY} and due_at <= ${params.nowMs}`, 'again')}
      ) as waiting order by due_at limit ${params.most}`;
    const ids = sql`select next.value from ${rows('client', { id: 'id' }, params.clients)}, ${forEachRow('next', next)}`;
    return sql<Omit<Due, 'body' | 'attempts'> & { body: string | null; log: string }>`
      select id, client_id as "clientId", event, attempts as "before", attempt_log as log, created_at as "createdAt",
        ${wholeBody('due')} as body
      from webhook_deliveries as due where id ${among(ids)}`;
  },
);

/** Due deliveries of each client, so many at most: first attempts and retries in the order in which they fell due. */
export const due = async (
  { webhooks, fill }: Context,
  { clientIds, unsettled, most }: ToRead & { most: number },
  nowMs: number,
): Promise<Due[]> => {
  const values = { clients: asRows(clientIds), unsettled, most, nowMs };
  const { rows } = await webhooks.executeQuery(fill(dueOfEach, values));
  return rows.map(({ body, log, ...row }) => ({
    ...row,
    body: body === null ? null : Buffer.from(body, 'utf8'),
    attempts: readAttempts(log),
  }));
};

const nextRetryOfEach = statement(
  ({ rows, oneOf }: Engine, params: { clients: object[]; unsettled: string[] }) => sql<{
    clientId: string;
    dueAt: number | null;
  }>`
    select client.id as "clientId", (
      select min(due_at) from webhook_deliveries
      where client_id = client.id and ${RETRY} and not (id ${oneOf('id', params.unsettled)})
    ) as "dueAt" from ${rows('client', { id: 'id' }, params.clients)}`,
);

export const nextRetries = async (
  { webhooks, fill }: Context,
  { clientIds, unsettled }: ToRead,
): Promise<Waiting[]> => {
  if (clientIds.length === 0) return [];
  const { rows } = await webhooks.executeQuery(
    fill(nextRetryOfEach, { clients: asRows(clientIds), unsettled }),
  );
  return rows.flatMap(({ clientId, dueAt }) =>
    dueAt === null ? [] : [{ clientId, firstDueAt: dueAt, lastDueAt: dueAt }],
  );
};

/** Makes retries due now whose time lies further ahead than it can: the clock that wrote it was wrong (ADR 0010). */
export const bringForward = async (
  { webhooks: db, oneOf }: Context,
  clientIds: string[],
  { nowMs, furtherThanMs }: { nowMs: number; furtherThanMs: number },
): Promise<void> => {
  await db
    .updateTable('webhook_deliveries')
    .set({ due_at: nowMs })
    .where(RETRY)
    .where(sql<boolean>`client_id ${oneOf('id', clientIds)}`)
    .where('due_at', '>', furtherThanMs)
    .execute();
};

/** Bounded, so that the statement is short; the next round drops the rest. */
const DROPPED_AT_ONCE = 5_000;

/** Drops what waited too long for one receiver, in one statement; returns how many (docs/contract.md). */
export const dropTooOld = async (
  { webhooks: db, oneOf, among }: Context,
  { clientId, unsettled }: { clientId: string; unsettled: string[] },
  { nowMs, beforeMs }: { nowMs: number; beforeMs: number },
): Promise<number> => {
  const isTooOld = sql<boolean>`created_at < ${beforeMs}`;
  const ids = waitingFor({ db, oneOf }, clientId, unsettled, DROPPED_AT_ONCE, isTooOld);
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
  url: string;
  sealedSecret: string;
  unreachable: string | null;
  /** When the first attempt since its last 2xx failed; null: none did. */
  failedSince: number | null;
}

const clientsById = statement(({ db, oneOf }, { clientIds }: { clientIds: string[] }) =>
  db
    .selectFrom('api_clients as client')
    .innerJoin('shops as shop', 'shop.id', 'client.shop_id')
    // Always one step: a damaged row must not send deliveries round in a circle, or to another shop.
    .leftJoin('api_clients as replacement', (join) =>
      join
        .onRef('replacement.id', '=', 'client.replaced_by')
        .onRef('replacement.shop_id', '=', 'client.shop_id')
        .on('replacement.replaced_by', 'is', null),
    )
    .leftJoin('webhook_failures as failures', 'failures.client_id', 'client.id')
    .select(['client.id', 'client.shop_id as shopId', 'client.webhook_url as url'])
    .select(['client.webhook_secret as sealedSecret', 'client.revoked_at as revokedAt'])
    .select(['replacement.id as replacedBy', 'shop.plan', 'failures.since as failedSince'])
    .where(sql<boolean>`client.id ${oneOf('id', clientIds)}`),
);

/** A new URL, a revocation and a new plan count from the next attempt on. */
export const destinationsOf = async (
  { webhooks, fill }: Context,
  clientIds: string[],
): Promise<Map<string, Destination>> => {
  const { rows } = await webhooks.executeQuery(fill(clientsById, { clientIds }));
  const whyUnreachable = ({ url, revokedAt, plan }: (typeof rows)[number]): string | null => {
    if (revokedAt !== null) return DROPPED_BECAUSE.revoked;
    if (url === null) return DROPPED_BECAUSE.noUrl;
    return hasApi({ plan: plan as Plan }) ? null : DROPPED_BECAUSE.noApi;
  };
  return new Map(
    rows.map((row) => [row.id, { ...row, url: row.url ?? '', unreachable: whyUnreachable(row) }]),
  );
};
