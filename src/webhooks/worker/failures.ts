import { sql } from 'kysely';
import { afterFailure } from '../../db/database-errors.ts';
import { statement } from '../../db/statements.ts';
import { batched } from '../../lib/batch.ts';
import type { Core } from '../../platform/core.ts';
import { describeError } from '../../platform/log.ts';
import { describeAttemptError } from '../queue.ts';
import type { WebhookServices } from '../services.ts';
import type { Destination, DueDelivery } from './delivery-queue.ts';
import type { Settlement } from './settle.ts';

/** A receiver counts as failing after this time without a 2xx and this many failed attempts or drops (docs/contract.md). */
const FAILING_AFTER_MS = 10 * 60_000;
const FAILING_ATTEMPTS = 10;
const FAILING_DROPS = 3;
const CHECK_EVERY_MS = 5_000;
/** After an outage thousands of receivers fail at once. A statement for each took three times as long as the attempts. */
const FAILURES_PER_STATEMENT = 256;

type FailureServices = Core & Pick<WebhookServices, 'notifyReceiverState'>;

/** One failed attempt. */
interface Failure {
  receiver_id: string;
  since: number;
  dropped: number;
  error: string;
}
const FAILURE_COLUMNS = { receiver_id: 'id', since: 'integer', dropped: 'integer', error: 'text' } as const;

/** The rows have the same order in all processes, which avoids deadlocks. Any error of a batch may become `last_error`. */
const addFailures = statement(
  ({ rows }, { failures }: { failures: Failure[] }) => sql`
    insert into webhook_failures as known (receiver_id, since, failed_attempts, dropped_deliveries, last_error)
    select receiver_id, min(since), count(*), sum(dropped), max(error)
    from ${rows('failure', FAILURE_COLUMNS, failures)} where true group by receiver_id order by receiver_id
    on conflict (receiver_id) do update set last_error = excluded.last_error,
      failed_attempts = known.failed_attempts + excluded.failed_attempts,
      dropped_deliveries = known.dropped_deliveries + excluded.dropped_deliveries`,
);

/**
 * Notifies Admins of receivers that keep failing. A receiver has a row in `webhook_failures` from its first failed attempt to
 * the next 2xx, which deletes it. While nothing fails, nothing is written; the destinations say whether there is a row. The
 * process whose statement changes the row sends the email.
 */
export class ReceiverFailures {
  readonly #ctx: FailureServices;
  /** The receivers that have failed in this process since their last 2xx. */
  readonly #failed = new Set<string>();

  readonly #add: (failure: Failure) => Promise<unknown>;

  constructor(ctx: FailureServices) {
    this.#ctx = ctx;
    this.#add = batched(
      async (failures: Failure[]) => {
        await ctx.webhooks.executeQuery(ctx.fill(addFailures, { failures }));
        return failures;
      },
      { most: FAILURES_PER_STATEMENT, afterFailure },
    );
  }

  /** Records an attempt whose result was written. It never rejects, since later attempts compensate for a lost count. */
  async observe(
    { receiverId, attemptsBefore }: DueDelivery,
    destination: Destination | undefined,
    { attempts, status }: Settlement,
  ): Promise<void> {
    const last = attempts.at(-1);
    if (!last || attempts.length === attemptsBefore) return;
    try {
      if (status !== 'DELIVERED') {
        this.#failed.add(receiverId);
        const dropped = status === 'DROPPED' ? 1 : 0;
        const since = this.#ctx.clock.now();
        await this.#add({ receiver_id: receiverId, since, dropped, error: describeAttemptError(last) });
      } else if (typeof destination?.failedSince === 'number' || this.#failed.has(receiverId))
        await this.#recover(receiverId);
    } catch (error) {
      this.#ctx.log.warn(
        { receiverId, error: describeError(error) },
        'the state of a webhook receiver could not be written',
      );
    }
  }

  /** Notifies Admins of receivers that have failed for long enough, and returns the wait before the next check. */
  async check(): Promise<number> {
    const { webhooks, clock } = this.#ctx;
    const nowMs = clock.now();
    const isToBeNotified = sql<boolean>`notified_at is null and since <= ${nowMs - FAILING_AFTER_MS}
      and (failed_attempts >= ${FAILING_ATTEMPTS} or dropped_deliveries >= ${FAILING_DROPS})
      and exists (
        select 1 from api_clients as client
        where client.receiver_id = webhook_failures.receiver_id
          and revoked_at is null and replaced_by is null and webhook_url is not null
      )`;
    const found = await webhooks
      .selectFrom('webhook_failures')
      .select('receiver_id')
      .where(isToBeNotified)
      .execute();
    for (const { receiver_id } of found) {
      // If another process was faster, this changes no row.
      const marked = await webhooks
        .updateTable('webhook_failures')
        .set({ notified_at: nowMs })
        .where('receiver_id', '=', receiver_id)
        .where('notified_at', 'is', null)
        .returning('last_error')
        .executeTakeFirst();
      if (marked) await this.#notify(receiver_id, marked.last_error);
    }
    return CHECK_EVERY_MS;
  }

  async #recover(receiverId: string): Promise<void> {
    this.#failed.delete(receiverId);
    const ended = await this.#ctx.webhooks
      .deleteFrom('webhook_failures')
      .where('receiver_id', '=', receiverId)
      .returning('notified_at')
      .executeTakeFirst();
    if (typeof ended?.notified_at === 'number') await this.#notify(receiverId, null);
  }

  /** Notifies that the receiver fails with this error, or works again if it is null. */
  async #notify(receiverId: string, error: string | null): Promise<void> {
    const { webhooks, log, notifyReceiverState } = this.#ctx;
    const client = await webhooks
      .selectFrom('api_clients as client')
      .innerJoin('shops as shop', 'shop.id', 'client.shop_id')
      .select(['client.id', 'client.name', 'shop.id as shopId', 'shop.name as shopName'])
      .where('client.receiver_id', '=', receiverId)
      .where('client.replaced_by', 'is', null)
      .executeTakeFirstOrThrow();
    const message = error === null ? 'a webhook receiver works again' : 'a webhook receiver keeps failing';
    log.warn({ receiverId, clientId: client.id, shopId: client.shopId, error }, message);
    await notifyReceiverState(client, error);
  }
}
