import { type RawBuilder, sql } from 'kysely';
import type { Base } from '../base.ts';
import type { Db } from '../db/database.ts';
import { prune } from '../db/prune.ts';
import type { DeliveryStatus } from '../db/schema.ts';
import { KEPT_MS } from '../events/event.ts';
import { lowestId } from '../ids.ts';

// The queue's figures and clean-up.

/**
 * In the text of the statement, not as parameters: only then are the indexes of what waits used. There are two of them, for
 * first attempts and for retries, and each delivery that waits is in one.
 */
export const PENDING = sql<DeliveryStatus>`'PENDING'`;
export const FIRST_ATTEMPT = sql<boolean>`status = ${PENDING} and attempts = 0`;
export const RETRY = sql<boolean>`status = ${PENDING} and attempts > 0`;
const WAITING = [FIRST_ATTEMPT, RETRY];

/** The body of a delivery: its own, or that of its event. */
export const wholeBody = (delivery: string): RawBuilder<string | null> =>
  sql<string | null>`coalesce(
    nullif(${sql.ref(`${delivery}.body`)}, ''),
    (select body from events where events.id = ${sql.ref(`${delivery}.id`)})
  )`;

export const countWaiting = async (db: Db): Promise<number> => {
  const counts = await Promise.all(
    WAITING.map((which) =>
      db
        .selectFrom('webhook_deliveries')
        .where(which)
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow(),
    ),
  );
  return counts.reduce((sum, { count }) => sum + count, 0);
};

/** When the oldest delivery that still waits was written. */
export const oldestWaiting = async (db: Db): Promise<number | null> => {
  const oldest = await Promise.all(
    WAITING.map((which) =>
      db
        .selectFrom('webhook_deliveries')
        .where(which)
        .select((eb) => eb.fn.min<number | null>('created_at').as('at'))
        .executeTakeFirstOrThrow(),
    ),
  );
  const times = oldest.flatMap(({ at }) => at ?? []);
  return times.length === 0 ? null : Math.min(...times);
};

/** Forgets deliveries of long ago; true when more may be left. */
export const forgetOldDeliveries = (ctx: Pick<Base, 'background'>, nowMs: number): Promise<boolean> => {
  const only = sql<boolean>`status <> ${PENDING}`;
  return prune(ctx, { table: 'webhook_deliveries', by: 'id', upTo: lowestId(nowMs - KEPT_MS), only });
};
