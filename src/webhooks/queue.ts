import { sql } from 'kysely';
import type { WebhookEventName } from '../../contract/webhook-event.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/database.ts';
import { blank } from '../db/known-statements.ts';
import { PRUNED_AT_ONCE } from '../db/prune.ts';
import type { DeliveryStatus } from '../db/tables.ts';
import { lowestId } from '../ids.ts';

// The dispatcher's queries. A delivery is PENDING until it ends as DELIVERED or DROPPED. Only the process that holds the
// lease of its receiver sends it. A process that slept through its lease overwrites nothing: a settlement counts only where
// the number of attempts is still the one it began with.

/** In the text of the statement, not a parameter: only then is the index of what waits used. */
const PENDING = sql<DeliveryStatus>`'PENDING'`;

export interface Attempt {
  /** Milliseconds since 1970. */
  at: number;
  durationMs: number;
  statusCode: number | null;
  error: string | null;
}

/** What is due. */
export interface Due {
  id: string;
  clientId: string;
  event: WebhookEventName;
  body: string;
  attempts: Attempt[];
  createdAt: number;
}

/** Receivers with something waiting, and when the first of it is due: one step through the index a receiver, however much waits. */
export const waitingReceivers = async (db: Db): Promise<{ clientId: string; dueAt: number }[]> => {
  const { rows } = await sql<{ client_id: string; due_at: number }>`
    with recursive receivers(client_id) as (
      select (select client_id from webhook_deliveries where status = ${PENDING} order by client_id limit 1)
      union all
      select (
        select client_id from webhook_deliveries
        where status = ${PENDING} and client_id > receivers.client_id order by client_id limit 1
      ) from receivers where client_id is not null
    )
    select client_id, (
      select min(due_at) from webhook_deliveries where status = ${PENDING} and client_id = receivers.client_id
    ) as due_at
    from receivers where client_id is not null`.execute(db);
  // Between the two looks the last one may have been settled.
  return rows.flatMap((row) => (row.due_at === null ? [] : [{ clientId: row.client_id, dueAt: row.due_at }]));
};

export interface Opening {
  clientId: string;
  room: number;
  /** Ids of what is under way already. */
  underWay: string[];
}

/** Up to `room` due deliveries of each receiver, oldest first. */
export const due = async (
  { db, known, oneOf }: Pick<Context, 'db' | 'known' | 'oneOf'>,
  openings: Opening[],
  nowMs: number,
): Promise<Due[]> => {
  if (openings.length === 0) return [];
  const values = Object.fromEntries(
    openings.flatMap(({ clientId, room, underWay }, i) => [
      [`client${i}`, clientId],
      [`room${i}`, room],
      [`underWay${i}`, underWay],
    ]),
  );
  const { rows } = await db.executeQuery(
    known(`due of ${openings.length}`, () => dueOfEach({ db, oneOf }, openings.length), { ...values, nowMs }),
  );
  return rows.map((row) => ({
    id: row.id,
    clientId: row.client_id,
    event: row.event,
    body: row.body,
    attempts: JSON.parse(row.attempt_log),
    createdAt: row.created_at,
  }));
};

const dueOfEach = ({ db, oneOf }: Pick<Context, 'db' | 'oneOf'>, receivers: number) => {
  const dueOf = (i: number) =>
    db
      .selectFrom((eb) =>
        eb
          .selectFrom('webhook_deliveries')
          .select(['id', 'client_id', 'event', 'body', 'attempt_log', 'created_at'])
          .where('status', '=', PENDING)
          .where('client_id', '=', blank<string>(`client${i}`))
          .where('due_at', '<=', blank<number>('nowMs'))
          .where(sql<boolean>`not (id ${oneOf('id', blank(`underWay${i}`))})`)
          .orderBy('due_at')
          .limit(blank<number>(`room${i}`))
          .as('due'),
      )
      .select(['id', 'client_id', 'event', 'body', 'attempt_log', 'created_at']);
  let all = dueOf(0);
  for (let i = 1; i < receivers; i++) all = all.unionAll(dueOf(i));
  return all;
};

/** How an attempt ended. */
export interface Settlement {
  id: string;
  /** How many attempts there were before. */
  before: number;
  status: DeliveryStatus;
  attempts: Attempt[];
  dueAt: number;
  finishedAt: number | null;
}

/** Writes down how attempts ended; one that somebody else has settled meanwhile is passed over. */
export const settle = async (
  { db, rows, known }: Pick<Context, 'db' | 'rows' | 'known'>,
  settlements: Settlement[],
): Promise<void> => {
  const ended = settlements.map(({ id, before, status, attempts, dueAt, finishedAt }) => ({
    id,
    before,
    status,
    attempts: attempts.length,
    log: JSON.stringify(attempts),
    due_at: dueAt,
    finished_at: finishedAt,
  }));
  await db.executeQuery(known('settle', () => settling(db, rows), { ended }));
};

const settling = (db: Db, rows: Context['rows']) => {
  const settled = rows(
    'settled',
    {
      id: 'id',
      before: 'integer',
      status: 'text',
      attempts: 'integer',
      log: 'text',
      due_at: 'integer',
      finished_at: 'integer',
    },
    blank('ended'),
  );
  const statement = sql`
    update webhook_deliveries
    set status = settled.status, attempts = settled.attempts, attempt_log = settled.log,
      due_at = settled.due_at, finished_at = settled.finished_at
    from ${settled}
    where webhook_deliveries.id = settled.id and webhook_deliveries.status = ${PENDING}
      and webhook_deliveries.attempts = settled.before`;
  return { compile: () => statement.compile(db) };
};

export interface Receiver {
  shopId: string;
  /** null: the client was revoked or has no URL any more. */
  url: string | null;
  sealedSecret: string;
}

/** Where these clients' deliveries go now. */
export const receiversById = async (
  { reads, known, oneOf }: Pick<Context, 'reads' | 'known' | 'oneOf'>,
  clientIds: string[],
): Promise<Map<string, Receiver>> => {
  const byId = () =>
    reads
      .selectFrom('api_clients')
      .select(['id', 'shop_id', 'webhook_url', 'webhook_secret', 'revoked_at'])
      .where(sql<boolean>`id ${oneOf('id', blank('clientIds'))}`);
  const { rows } = await reads.executeQuery(known('receivers', byId, { clientIds }));
  return new Map(
    rows.map((row) => [
      row.id,
      {
        shopId: row.shop_id,
        url: row.revoked_at === null ? row.webhook_url : null,
        sealedSecret: row.webhook_secret,
      },
    ]),
  );
};

const waiting = (db: Db) => db.selectFrom('webhook_deliveries').where('status', '=', PENDING);

export const countWaiting = async (db: Db): Promise<number> =>
  (
    await waiting(db)
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
  ).count;

/** When the oldest delivery that still waits was written. */
export const oldestWaiting = async (db: Db): Promise<number | null> =>
  (await waiting(db).select('created_at').orderBy('created_at').limit(1).executeTakeFirst())?.created_at ??
  null;

/** Forgets deliveries of long ago, a bounded number at a time so that nobody waits long; true when more is left. */
export const forgetOldDeliveries = async (db: Db, beforeMs: number): Promise<boolean> => {
  const old = db
    .selectFrom('webhook_deliveries')
    .select('id')
    .where('id', '<', lowestId(beforeMs))
    .where('status', '<>', PENDING)
    .orderBy('id')
    .limit(PRUNED_AT_ONCE);
  const { numDeletedRows } = await db
    .deleteFrom('webhook_deliveries')
    .where('id', 'in', old)
    .executeTakeFirst();
  return numDeletedRows === BigInt(PRUNED_AT_ONCE);
};
