import { type RawBuilder, sql } from 'kysely';
import type { DeliveryStatus } from '../db/schema.ts';
import type { Db, Engine } from '../db/types.ts';
import { jsonOr } from '../lib/json.ts';
import type { Core } from '../platform/core.ts';
import { GIVE_UP_AFTER_MS } from './policy.ts';

// What a delivery in the database holds, which deliveries wait, and how many.

/** What one attempt came to, as it is kept in `webhook_deliveries.attempt_log`. */
export interface Attempt {
  at: number;
  durationMs: number;
  statusCode: number | null;
  error: string | null;
}

/** The attempts of a delivery, or null where its log is damaged: the dispatcher drops it, the admin app shows it without attempts. */
export const readAttempts = (log: string): Attempt[] | null => {
  const attempts = jsonOr(log, null);
  return Array.isArray(attempts) ? attempts : null;
};

/** Why a delivery was dropped, in words for the shop's Admin. A dropped delivery always has one. */
export const DROPPED_BECAUSE = {
  gone: 'the client does not exist any more',
  revoked: 'the client was revoked',
  noUrl: 'the client has no webhook URL',
  noApi: "the shop's plan has no API",
  sealed: 'the webhook secret cannot be opened',
  unreadable: 'its earlier attempts cannot be read',
  noBody: 'its event cannot be read',
  serviceError: 'it could not be sent because of an error in the service',
  unknown: 'it is not known why',
  erased: 'erased',
  tooOld: `waited longer than ${GIVE_UP_AFTER_MS / 3_600_000} hours`,
} as const;

/** Why an attempt failed, in words for the shop's Admin. */
export const errorOf = ({ statusCode, error }: Attempt): string => error ?? `status ${statusCode}`;

export const afterAttempts = (attempts: number, last: Attempt): string =>
  `${attempts === 4 ? 'four' : attempts} attempts failed: ${errorOf(last)}`;

/**
 * In the text of the statement, not as parameters: only then are the indexes of what waits used. There are two of them, for
 * first attempts and for retries, and each delivery that waits is in one.
 */
export const PENDING = sql<DeliveryStatus>`'PENDING'`;
export const FIRST_ATTEMPT = sql<boolean>`status = ${PENDING} and attempts = 0`;
export const RETRY = sql<boolean>`status = ${PENDING} and attempts > 0`;

/** The body of a delivery: its own, or that of its event. */
export const wholeBody = (delivery: string): RawBuilder<string | null> =>
  sql<string | null>`coalesce(
    nullif(${sql.ref(`${delivery}.body`)}, ''),
    (select body from events where events.id = ${sql.ref(`${delivery}.id`)})
  )`;

/**
 * A client and those that replaced it are one receiver. A delivery is shown with the client that was the current one when it ended,
 * and with the present one until then.
 */
export const endedUnder = (
  delivery: string,
  createdAt: number | RawBuilder<unknown>,
  replacedAt: number | null | RawBuilder<unknown>,
): RawBuilder<boolean> => {
  const finishedAt = sql.ref(`${delivery}.finished_at`);
  return sql`(cast(${replacedAt} as bigint) is null or ${finishedAt} < ${replacedAt})
    and coalesce(${finishedAt}, ${createdAt}) >= ${createdAt}`;
};

interface WaitingFor {
  receiver: string | RawBuilder<string>;
  /** Deliveries that are being sent right now: not these. */
  unsettled: string[];
  /** Of each kind. */
  most: number;
  /** Each found by an index. */
  kinds: RawBuilder<boolean>[];
}

/** The ids of what waits for a receiver, each kind and all of them in the order in which they fell due. */
export const waitingFor = (
  { oneOf }: Pick<Engine, 'oneOf'>,
  { receiver, unsettled, most, kinds }: WaitingFor,
): RawBuilder<unknown> => {
  const some = kinds.map(
    (kind, i) => sql`
      select * from (
        select id, due_at from webhook_deliveries
        where receiver_id = ${receiver} and ${kind} and not (id ${oneOf('id', unsettled)})
        order by due_at limit ${most}
      ) as ${sql.id(`kind_${i}`)}`,
  );
  return sql`select id from (${sql.join(some, sql` union all `)}) as waiting order by due_at`;
};

const countWaiting = (db: Db) => {
  const waiting = db.selectFrom('webhook_deliveries').select(['receiver_id', 'created_at']);
  return db
    .selectFrom(waiting.where(FIRST_ATTEMPT).unionAll(waiting.where(RETRY)).as('waiting'))
    .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.min('created_at').as('oldestAt')]);
};

/** How many wait, and since when the oldest of them does; null when none waits. */
export const findWaiting = (db: Db): Promise<{ count: number; oldestAt: number | null }> =>
  countWaiting(db).executeTakeFirstOrThrow();

/** Without receivers whose client was revoked or lost its URL: nothing is sent there any more that could end them. */
const failuresIn = (db: Db) =>
  db
    .selectFrom('webhook_failures as failure')
    .innerJoin('api_clients as failing', 'failing.receiver_id', 'failure.receiver_id')
    .where('failing.replaced_by', 'is', null)
    .where('failing.revoked_at', 'is', null)
    .where('failing.webhook_url', 'is not', null);

/** Clients of all shops whose receiver fails, or has deliveries that wait; those that wait the longest come first. */
export const findReceivers = (db: Db) => {
  const byReceiver = countWaiting(db).select('receiver_id').groupBy('receiver_id');
  const failures = failuresIn(db).select(['failure.receiver_id', 'failure.last_error', 'failure.since']);
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

/** The queue's figures, the same in whichever process they are asked for. */
export const watchQueue = ({ db, clock, metrics }: Core): void => {
  metrics.watch(
    'handback_webhook_waiting',
    'Deliveries that wait to be sent.',
    async () => (await findWaiting(db)).count,
  );
  metrics.watch(
    'handback_webhook_oldest_waiting_seconds',
    'Age of the oldest of them; 0 when none waits.',
    async () => {
      const { oldestAt } = await findWaiting(db);
      return oldestAt === null ? 0 : (clock.now() - oldestAt) / 1000;
    },
  );
  metrics.watch('handback_webhook_receivers_failing', 'Receivers whose last attempt failed.', async () => {
    const failing = failuresIn(db).select((eb) => eb.fn.countAll<number>().as('count'));
    return (await failing.executeTakeFirstOrThrow()).count;
  });
};
