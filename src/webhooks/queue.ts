import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { prune } from '../db/prune.ts';
import type { DeliveryStatus } from '../db/schema.ts';
import type { Engine } from '../db/statements.ts';
import { KEPT_MS } from '../events/event.ts';
import { lowestId } from '../lib/ids.ts';
import type { Base } from '../service/context.ts';

// The queue's figures and clean-up.

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

interface WaitingFor {
  clientId: string;
  unsettled: string[];
  most: number;
  only?: RawBuilder<boolean>;
}

/** The ids of what waits for a client and is not being sent: so many first attempts, and so many retries. */
export const waitingFor = (
  { db, oneOf }: Pick<Engine, 'db' | 'oneOf'>,
  { clientId, unsettled, most, only }: WaitingFor,
) => {
  const some = (which: RawBuilder<boolean>, alias: string) =>
    db
      .selectFrom((eb) =>
        eb
          .selectFrom('webhook_deliveries')
          .select('id')
          .where(only ? sql<boolean>`${which} and ${only}` : which)
          .where('client_id', '=', clientId)
          .where(sql<boolean>`not (id ${oneOf('id', unsettled)})`)
          .orderBy('due_at')
          .limit(most)
          .as(alias),
      )
      .select('id');
  return some(FIRST_ATTEMPT, 'first').unionAll(some(RETRY, 'again'));
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

/** When the oldest delivery that still waits was written. */
export const oldestWaiting = async (db: Db): Promise<number | null> => {
  const times = (await figureOfEach(db, sql`min(created_at)`)).filter((at) => at !== null);
  return times.length === 0 ? null : Math.min(...times);
};

/** Forgets deliveries of long ago; true when more may be left. */
export const forgetOldDeliveries = (ctx: Pick<Base, 'background'>, nowMs: number): Promise<boolean> => {
  const only = sql<boolean>`status <> ${PENDING}`;
  return prune(ctx, { table: 'webhook_deliveries', by: 'id', upTo: lowestId(nowMs - KEPT_MS), only });
};
