import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { prune } from '../db/prune.ts';
import type { DeliveryStatus } from '../db/schema.ts';
import { type Change, change, type Engine, statement } from '../db/statements.ts';
import { KEPT_MS } from '../events/event.ts';
import { lowestId } from '../lib/ids.ts';
import type { Base, Context } from '../service/context.ts';
import { GIVE_UP_AFTER_MS } from './policy.ts';

// What a delivery in the database holds, which deliveries wait, and how many.

/** What one attempt came to, as it is kept in `webhook_deliveries.attempt_log`. */
export interface Attempt {
  at: number;
  durationMs: number;
  statusCode: number | null;
  error: string | null;
}

/** The attempts of a delivery, or null where its log is damaged: one bad row must not fail those read with it. */
export const readAttempts = (log: string): Attempt[] | null => {
  try {
    const attempts: unknown = JSON.parse(log);
    return Array.isArray(attempts) ? attempts : null;
  } catch {
    // The dispatcher drops such a row, the admin app shows it without attempts.
    return null;
  }
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

/** The ids of what waits for a client and is not being sent: so many first attempts, and so many retries. */
export const waitingFor = (
  { db, oneOf }: Pick<Engine, 'db' | 'oneOf'>,
  clientId: string,
  unsettled: string[],
  most: number,
  only = sql<boolean>`1 = 1`,
) => {
  const some = (which: RawBuilder<boolean>, alias: string) =>
    db
      .selectFrom((eb) =>
        eb
          .selectFrom('webhook_deliveries')
          .select('id')
          .where(which)
          .where(only)
          .where('client_id', '=', clientId)
          .where(sql<boolean>`not (id ${oneOf('id', unsettled)})`)
          .orderBy('due_at')
          .limit(most)
          .as(alias),
      )
      .select('id');
  return some(FIRST_ATTEMPT, 'first').unionAll(some(RETRY, 'again'));
};

/**
 * What waits for a client that was replaced goes to the new client, with its attempts and its schedule. Bounded, so that the
 * statement is short: the dispatcher moves the rest.
 */
const MOVED_AT_ONCE = 2_000;

interface Replacement {
  from: string;
  to: string;
  /** Deliveries that are being sent right now, which stay where they are. */
  unsettled: string[];
}

const moving = statement((engine, { from, to, unsettled }: Replacement) => {
  const ids = waitingFor(engine, from, unsettled, MOVED_AT_ONCE);
  return engine.db
    .updateTable('webhook_deliveries')
    .set({ client_id: to })
    .where('status', '=', PENDING)
    .where(sql<boolean>`id ${engine.among(ids)}`);
});

/** The process that sends to the old client goes on with the new one: only it knows which of these it is sending. */
const passingOnLease = statement(
  ({ rows }, { replacements }: { replacements: { client_id: string; from_id: string }[] }) => {
    const replacement = rows('replacement', { client_id: 'id', from_id: 'id' }, replacements);
    return sql`
    insert into webhook_leases (client_id, holder, held_until)
    select replacement.client_id, lease.holder, lease.held_until
    from webhook_leases as lease, ${replacement} where lease.client_id = replacement.from_id`;
  },
);

/** The new client has the URL of the old one: the shop is not notified a second time. */
const passingOnFailures = statement(({ db }, { from, to }: Pick<Replacement, 'from' | 'to'>) =>
  db.updateTable('webhook_failures').set({ client_id: to }).where('client_id', '=', from),
);

export const takeOverDeliveries = (from: string, to: string): Change[] => [
  change(moving, { from, to, unsettled: [] }),
  change(passingOnFailures, { from, to }),
  change(passingOnLease, { replacements: [{ client_id: to, from_id: from }] }),
];

/** For what was written while the client was being replaced, and what was left over. Returns how many were moved. */
export const moveDeliveries = async ({ webhooks, fill }: Context, move: Replacement): Promise<number> => {
  const { numAffectedRows } = await webhooks.executeQuery(fill(moving, move));
  return Number(numAffectedRows ?? 0);
};

const figureOfEach = (db: Db, figure: RawBuilder<number | null>) =>
  Promise.all(
    [FIRST_ATTEMPT, RETRY].map(async (which) => {
      const query = db.selectFrom('webhook_deliveries').where(which).select(figure.as('figure'));
      return (await query.executeTakeFirstOrThrow()).figure;
    }),
  );

export const countWaiting = async (db: Db): Promise<number> =>
  (await figureOfEach(db, sql`count(*)`)).reduce<number>((sum, count) => sum + Number(count), 0);

export const oldestWaiting = async (db: Db): Promise<number | null> => {
  const times = (await figureOfEach(db, sql`min(created_at)`)).filter((at) => at !== null);
  return times.length === 0 ? null : Math.min(...times);
};

/** The queue's figures, the same in whichever process they are asked for. */
export const watchQueue = ({ db, clock, metrics }: Context): void => {
  metrics.watch('handback_webhook_waiting', 'Deliveries that wait to be sent.', () => countWaiting(db));
  metrics.watch(
    'handback_webhook_oldest_waiting_seconds',
    'Age of the oldest of them; 0 when none waits.',
    async () => {
      const oldestAt = await oldestWaiting(db);
      return oldestAt === null ? 0 : (clock.now() - oldestAt) / 1000;
    },
  );
};

/** Forgets deliveries of long ago; true when more may be left. */
export const forgetOldDeliveries = (ctx: Pick<Base, 'background'>, nowMs: number): Promise<boolean> => {
  const only = sql<boolean>`status <> ${PENDING}`;
  return prune(ctx, { table: 'webhook_deliveries', by: 'id', upTo: lowestId(nowMs - KEPT_MS), only });
};
