import { type RawBuilder, sql } from 'kysely';
import type { DeliveryStatus } from '../db/schema.ts';
import type { Db, Engine } from '../db/types.ts';
import { jsonOr } from '../lib/json.ts';
import type { Core } from '../platform/core.ts';
import { GIVE_UP_AFTER_MS } from './policy.ts';

// This file defines the attempts and drop reasons of a delivery, and selects and counts pending deliveries.

/** The result of one attempt, as it is stored in `webhook_deliveries.attempt_log`. */
export interface Attempt {
  at: number;
  durationMs: number;
  statusCode: number | null;
  error: string | null;
}

/** Reads the attempts of a delivery. If they are damaged it returns null: the dispatcher drops it, the admin app shows none. */
export const readAttempts = (log: string): Attempt[] | null => {
  const attempts = jsonOr(log, null);
  return Array.isArray(attempts) ? attempts : null;
};

/** The reason why a delivery was dropped, as the shop's Admin reads it. Every dropped delivery has one. */
export const DROP_REASONS = {
  gone: 'the client no longer exists',
  revoked: 'the client was revoked',
  noUrl: 'the client has no webhook URL',
  noApi: "the shop's plan has no API",
  sealed: 'the webhook secret cannot be opened',
  unreadable: 'its earlier attempts cannot be read',
  noBody: 'its event cannot be read',
  serviceError: 'it could not be sent because of an error in the service',
  unknown: 'the reason is unknown',
  erased: 'erased',
  tooOld: `waited longer than ${GIVE_UP_AFTER_MS / 3_600_000} hours`,
} as const;

/** Describes why an attempt failed, for the shop's Admin. */
export const describeAttemptError = ({ statusCode, error }: Attempt): string =>
  error ?? `status ${statusCode}`;

export const attemptsFailedReason = (attempts: number, last: Attempt): string =>
  `${attempts === 4 ? 'four' : attempts} attempts failed: ${describeAttemptError(last)}`;

/**
 * These values are literals in the statement, since the partial indexes are not used with parameters. There are two indexes,
 * for first attempts and for retries, and each pending delivery is in one of them.
 */
export const PENDING = sql<DeliveryStatus>`'PENDING'`;
export const FIRST_ATTEMPT = sql<boolean>`status = ${PENDING} and attempts = 0`;
export const RETRY = sql<boolean>`status = ${PENDING} and attempts > 0`;

/** Selects the body of a delivery: its own, or else the body of its event. */
export const deliveryBody = (delivery: string): RawBuilder<string | null> =>
  sql<string | null>`coalesce(
    nullif(${sql.ref(`${delivery}.body`)}, ''),
    (select body from events where events.id = ${sql.ref(`${delivery}.id`)})
  )`;

/**
 * A client and its replacements share one receiver. A pending delivery belongs to the current client, and an ended delivery
 * to the client that was current when it ended.
 */
export const belongsToClient = (
  delivery: string,
  createdAt: number | RawBuilder<unknown>,
  replacedAt: number | null | RawBuilder<unknown>,
): RawBuilder<boolean> => {
  const finishedAt = sql.ref(`${delivery}.finished_at`);
  return sql`(cast(${replacedAt} as bigint) is null or ${finishedAt} < ${replacedAt})
    and coalesce(${finishedAt}, ${createdAt}) >= ${createdAt}`;
};

interface PendingQuery {
  receiver: string | RawBuilder<string>;
  /** The ids of deliveries in progress, which are excluded. */
  unsettled: string[];
  /** The maximum number of deliveries for each condition. */
  most: number;
  /** Every condition is covered by an index. */
  conditions: RawBuilder<boolean>[];
}

/** Selects the ids of pending deliveries for a receiver by due time, up to the limit for each condition. */
export const selectPendingIds = (
  { oneOf }: Pick<Engine, 'oneOf'>,
  { receiver, unsettled, most, conditions }: PendingQuery,
): RawBuilder<unknown> => {
  const selects = conditions.map(
    (condition, i) => sql`
      select * from (
        select id, due_at from webhook_deliveries
        where receiver_id = ${receiver} and ${condition} and not (id ${oneOf('id', unsettled)})
        order by due_at limit ${most}
      ) as ${sql.id(`condition_${i}`)}`,
  );
  return sql`select id from (${sql.join(selects, sql` union all `)}) as waiting order by due_at`;
};

const selectPending = (db: Db) => {
  const waiting = db.selectFrom('webhook_deliveries').select(['receiver_id', 'created_at']);
  return db
    .selectFrom(waiting.where(FIRST_ATTEMPT).unionAll(waiting.where(RETRY)).as('waiting'))
    .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.min('created_at').as('oldestAt')]);
};

/** Counts pending deliveries. `oldestAt` is when the oldest was created, or null if there are none. */
export const countPendingDeliveries = (db: Db): Promise<{ count: number; oldestAt: number | null }> =>
  selectPending(db).executeTakeFirstOrThrow();

/** Excludes receivers whose client was revoked or lost its URL, since no further delivery can end these failures. */
const selectFailures = (db: Db) =>
  db
    .selectFrom('webhook_failures as failure')
    .innerJoin('api_clients as failing', 'failing.receiver_id', 'failure.receiver_id')
    .where('failing.replaced_by', 'is', null)
    .where('failing.revoked_at', 'is', null)
    .where('failing.webhook_url', 'is not', null);

/** Finds clients of all shops whose receiver fails or has pending deliveries, the longest waits first. */
export const findWaitingOrFailingClients = (db: Db) => {
  const byReceiver = selectPending(db).select('receiver_id').groupBy('receiver_id');
  const failures = selectFailures(db).select(['failure.receiver_id', 'failure.last_error', 'failure.since']);
  return db
    .selectFrom('api_clients as client')
    .innerJoin('shops as shop', 'shop.id', 'client.shop_id')
    .leftJoin(failures.as('failure'), 'failure.receiver_id', 'client.receiver_id')
    .leftJoin(byReceiver.as('waiting'), 'waiting.receiver_id', 'client.receiver_id')
    .select(['client.id', 'client.name', 'shop.name as shop', 'failure.last_error as error', 'failure.since'])
    .select((eb) => ['waiting.oldestAt', eb.fn.coalesce('waiting.count', eb.lit(0)).as('waiting')])
    .where('client.replaced_by', 'is', null)
    .where((eb) => eb.or([eb('failure.since', 'is not', null), eb('waiting.oldestAt', 'is not', null)]))
    .orderBy((eb) => eb.fn.coalesce('waiting.oldestAt', 'failure.since'))
    .execute();
};

/** Registers the metrics of the queue, which are the same in every process. */
export const watchQueue = ({ db, clock, metrics }: Core): void => {
  metrics.watch(
    'handback_webhook_waiting',
    'Deliveries that wait to be sent.',
    async () => (await countPendingDeliveries(db)).count,
  );
  metrics.watch(
    'handback_webhook_oldest_waiting_seconds',
    'Age of the oldest waiting delivery; 0 if none waits.',
    async () => {
      const { oldestAt } = await countPendingDeliveries(db);
      return oldestAt === null ? 0 : (clock.now() - oldestAt) / 1000;
    },
  );
  metrics.watch('handback_webhook_receivers_failing', 'Receivers whose last attempt failed.', async () => {
    const failing = selectFailures(db).select((eb) => eb.fn.countAll<number>().as('count'));
    return (await failing.executeTakeFirstOrThrow()).count;
  });
};
