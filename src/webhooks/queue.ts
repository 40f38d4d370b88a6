import { sql } from 'kysely';
import type { WebhookEventName } from '../../contract/webhook-event.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/database.ts';
import { blank } from '../db/known-statements.ts';
import type { DeliveryStatus } from '../db/tables.ts';
import { lowestId } from '../ids.ts';

// The dispatcher's queries. A delivery is PENDING until it ends as DELIVERED or DROPPED. A claim moves its `due_at` past
// the lease and leaves a token; only a settlement with the same token counts, so a process that slept through its lease
// overwrites nothing, and one that died is taken over when the lease is past.

/** In the text of the statement, not a parameter: only then is the index of what waits used. */
const PENDING = sql<DeliveryStatus>`'PENDING'`;

export interface Attempt {
  /** Milliseconds since 1970. */
  at: number;
  durationMs: number;
  statusCode: number | null;
  error: string | null;
}

export interface Claimed {
  id: string;
  clientId: string;
  event: WebhookEventName;
  body: string;
  attempts: Attempt[];
  createdAt: number;
  token: string;
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

/** Takes up to `room` due deliveries of each receiver; no two processes take the same. */
export const claim = async (
  { db, known }: Pick<Context, 'db' | 'known'>,
  receivers: { clientId: string; room: number }[],
  lease: { nowMs: number; untilMs: number; token: string },
): Promise<Claimed[]> => {
  if (receivers.length === 0) return [];
  const values = Object.fromEntries(
    receivers.flatMap(({ clientId, room }, i) => [
      [`client${i}`, clientId],
      [`room${i}`, room],
    ]),
  );
  const statement = known(`claim of ${receivers.length}`, () => claiming(db, receivers.length), {
    ...values,
    ...lease,
  });
  const { rows } = await db.executeQuery(statement);
  return rows.map((row) => ({
    id: row.id,
    clientId: row.client_id,
    event: row.event,
    body: row.body,
    attempts: JSON.parse(row.attempt_log),
    createdAt: row.created_at,
    token: lease.token,
  }));
};

const claiming = (db: Db, receivers: number) => {
  const dueOf = (i: number) =>
    db
      .selectFrom((eb) =>
        eb
          .selectFrom('webhook_deliveries')
          .select('id')
          .where('status', '=', PENDING)
          .where('client_id', '=', blank<string>(`client${i}`))
          .where('due_at', '<=', blank<number>('nowMs'))
          .orderBy('due_at')
          .limit(blank<number>(`room${i}`))
          .forUpdate()
          .skipLocked()
          .as('due'),
      )
      .select('due.id');
  let taken = dueOf(0);
  for (let i = 1; i < receivers; i++) taken = taken.unionAll(dueOf(i));
  return (
    db
      // Materialised, so that the rows are chosen and locked once, whatever plan the update has.
      .with(
        (cte) => cte('taken').materialized(),
        () => taken,
      )
      .updateTable('webhook_deliveries')
      .set({ due_at: blank<number>('untilMs'), lease_token: blank<string>('token') })
      .where('id', 'in', (eb) => eb.selectFrom('taken').select('taken.id'))
      .returning(['id', 'client_id', 'event', 'body', 'attempt_log', 'created_at'])
  );
};

/** How a claim ended. A `dueAt` means another attempt. */
export interface Settlement {
  id: string;
  token: string;
  status: DeliveryStatus;
  attempts: Attempt[];
  dueAt: number;
  finishedAt: number | null;
}

/** Writes down how claims ended; one whose lease went to somebody else is passed over. */
export const settle = async (
  { db, rows, known }: Pick<Context, 'db' | 'rows' | 'known'>,
  settlements: Settlement[],
): Promise<void> => {
  const ended = settlements.map(({ id, token, status, attempts, dueAt, finishedAt }) => ({
    id,
    token,
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
      token: 'text',
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
      due_at = settled.due_at, finished_at = settled.finished_at, lease_token = null
    from ${settled}
    where webhook_deliveries.id = settled.id and webhook_deliveries.lease_token = settled.token`;
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
  { reads, oneOf }: Pick<Context, 'reads' | 'oneOf'>,
  clientIds: string[],
): Promise<Map<string, Receiver>> => {
  const rows = await reads
    .selectFrom('api_clients')
    .select(['id', 'shop_id', 'webhook_url', 'webhook_secret', 'revoked_at'])
    .where(sql<boolean>`id ${oneOf('id', clientIds)}`)
    .execute();
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

const PRUNED_AT_ONCE = 1000;

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
