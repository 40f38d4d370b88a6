import { sql } from 'kysely';
import type { Context } from '../../service/context.ts';
import { describeError } from '../../service/log.ts';
import { errorOf } from '../queue.ts';
import type { Destination, Due } from './delivery-queue.ts';
import type { Settlement } from './settle.ts';

/** A receiver fails when it gave no 2xx for so long, and so many attempts failed or deliveries were dropped (docs/contract.md). */
const FAILING_AFTER_MS = 10 * 60_000;
const FAILING_ATTEMPTS = 10;
const FAILING_DROPS = 3;
const CHECK_EVERY_MS = 5_000;

/**
 * Receivers that keep failing: their shop's Admins are notified. A client has a row in `webhook_failures` from the first attempt that
 * fails to the next 2xx, which deletes it. While all is well nothing is written, and what is read comes with the destinations. The
 * process whose statement changes the row sends the mail.
 */
export class ReceiverFailures {
  readonly #ctx: Context;
  /** Clients that this process saw fail since their last 2xx. */
  readonly #failed = new Set<string>();

  constructor(ctx: Context) {
    this.#ctx = ctx;
  }

  /** Call it when the result of an attempt was written. Never rejects: later attempts make up for a count that is lost. */
  async observe(
    { clientId, before }: Due,
    destination: Destination | undefined,
    { attempts, status }: Settlement,
  ): Promise<void> {
    const last = attempts.at(-1);
    if (!last || attempts.length === before) return;
    try {
      if (status !== 'DELIVERED') await this.#count(clientId, errorOf(last), status === 'DROPPED' ? 1 : 0);
      else if (typeof destination?.failedSince === 'number' || this.#failed.has(clientId))
        await this.#recover(clientId);
    } catch (error) {
      this.#ctx.log.warn(
        { clientId, error: describeError(error) },
        'the state of a webhook receiver could not be written',
      );
    }
  }

  /** Notifies the Admins of receivers that have failed for long enough. Returns how long to wait before the next check. */
  async check(): Promise<number> {
    const { webhooks, clock } = this.#ctx;
    const nowMs = clock.now();
    const isFailing = sql<boolean>`notified_at is null and since <= ${nowMs - FAILING_AFTER_MS}
      and (failed_attempts >= ${FAILING_ATTEMPTS} or dropped_deliveries >= ${FAILING_DROPS})
      and client_id in (
        select id from api_clients where revoked_at is null and replaced_by is null and webhook_url is not null
      )`;
    const found = await webhooks
      .selectFrom('webhook_failures')
      .select('client_id')
      .where(isFailing)
      .execute();
    for (const { client_id } of found) {
      // Another process may have been faster: then this changes no row.
      const flipped = await webhooks
        .updateTable('webhook_failures')
        .set({ notified_at: nowMs })
        .where('client_id', '=', client_id)
        .where('notified_at', 'is', null)
        .returning('last_error')
        .executeTakeFirst();
      if (flipped) await this.#notify(client_id, flipped.last_error);
    }
    return CHECK_EVERY_MS;
  }

  async #count(clientId: string, error: string, dropped: number): Promise<void> {
    this.#failed.add(clientId);
    const { webhooks, clock } = this.#ctx;
    await sql`
      insert into webhook_failures as known (client_id, since, failed_attempts, dropped_deliveries, last_error)
      values (${clientId}, ${clock.now()}, 1, ${dropped}, ${error})
      on conflict (client_id) do update set last_error = excluded.last_error,
        failed_attempts = known.failed_attempts + 1,
        dropped_deliveries = known.dropped_deliveries + excluded.dropped_deliveries`.execute(webhooks);
  }

  async #recover(clientId: string): Promise<void> {
    this.#failed.delete(clientId);
    const ended = await this.#ctx.webhooks
      .deleteFrom('webhook_failures')
      .where('client_id', '=', clientId)
      .returning('notified_at')
      .executeTakeFirst();
    if (typeof ended?.notified_at === 'number') await this.#notify(clientId, null);
  }

  /** Without an error it works again. */
  async #notify(clientId: string, error: string | null): Promise<void> {
    const { webhooks, log, mailReceiverState } = this.#ctx;
    const client = await webhooks
      .selectFrom('api_clients as client')
      .innerJoin('shops as shop', 'shop.id', 'client.shop_id')
      .select(['client.id', 'client.name', 'shop.id as shopId', 'shop.name as shopName'])
      .where('client.id', '=', clientId)
      .executeTakeFirstOrThrow();
    const news = error === null ? 'a webhook receiver works again' : 'a webhook receiver keeps failing';
    log.warn({ clientId, shopId: client.shopId, error }, news);
    await mailReceiverState(client, error);
  }
}
