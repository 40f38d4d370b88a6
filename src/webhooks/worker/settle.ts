import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterFailure, isUnavailable } from '../../db/database-errors.ts';
import type { DeliveryStatus } from '../../db/schema.ts';
import { statement } from '../../db/statements.ts';
import { batched } from '../../lib/batch.ts';
import type { Core } from '../../platform/core.ts';
import { describeError } from '../../platform/log.ts';
import { type Attempt, PENDING } from '../queue.ts';

export interface Settlement {
  id: string;
  attemptsBefore: number;
  status: DeliveryStatus;
  attempts: Attempt[];
  dueAt: number;
  finishedAt: number | null;
  reason: string | null;
}

const SETTLEMENT_COLUMNS = {
  id: 'id',
  attemptsBefore: 'integer',
  status: 'text',
  attempts: 'integer',
  log: 'text',
  dueAt: 'integer',
  finishedAt: 'integer',
  reason: 'text',
} as const;

/**
 * The number of attempts must not have changed, so a process that slept through its lease overwrites nothing. The condition
 * names all statuses, which makes PostgreSQL expect few rows and look each one up instead of reading all.
 */
const writeSettlements = statement(
  ({ rows }, { ended }: { ended: object[] }) => sql`
    update webhook_deliveries
    set status = settled.status, attempts = settled.attempts, attempt_log = settled.log,
      due_at = settled."dueAt", finished_at = settled."finishedAt", reason = settled.reason
    from ${rows('settled', SETTLEMENT_COLUMNS, ended)}
    where webhook_deliveries.id = settled.id and webhook_deliveries.status = ${PENDING}
      and webhook_deliveries.attempts = settled."attemptsBefore" and settled.status in ('PENDING', 'DELIVERED', 'DROPPED')`,
);

export const settle = async ({ webhooks, fill }: Core, settlements: Settlement[]): Promise<void> => {
  const ended = settlements.map(({ attempts, ...rest }) => ({
    ...rest,
    attempts: Math.max(rest.attemptsBefore, attempts.length),
    log: JSON.stringify(attempts),
  }));
  await webhooks.executeQuery(fill(writeSettlements, { ended }));
};

/** SQLite blocks the event loop while it writes: with 256, many timeouts at once delayed healthy receivers by 10 ms. */
const SETTLEMENTS_PER_STATEMENT = 64;
const RETRY_WRITE_AFTER_MS = 500;

/** Writes settlements in batches. The slots of the pools bound how many wait here. */
export class Settler {
  readonly #ctx: Core;
  readonly #write: (settlement: Settlement) => Promise<boolean>;
  readonly #stopping = new AbortController();
  #waiting = 0;

  constructor(ctx: Core) {
    this.#ctx = ctx;
    // If the database rejects a batch, its items are tried one by one.
    this.#write = batched((batch: Settlement[]) => this.#writeAll(batch), {
      most: SETTLEMENTS_PER_STATEMENT,
      deadlineOf: () => Number.POSITIVE_INFINITY,
      afterFailure,
    });
  }

  /** Resolves to true once written, or false if a stop gave it up. It rejects if the database rejects this result for good. */
  async add(settlement: Settlement): Promise<boolean> {
    this.#waiting += 1;
    try {
      return await this.#write(settlement);
    } catch (error) {
      const { id: deliveryId, status } = settlement;
      this.#ctx.log.error(
        { deliveryId, status, error: describeError(error) },
        'the database refused the result of a webhook; its receiver goes on without it',
      );
      this.#ctx.metrics.refusedResults.inc();
      throw error;
    } finally {
      this.#waiting -= 1;
    }
  }
  /** Gives up all unwritten results. Another process repeats these attempts (docs/contract.md). */
  giveUp(): void {
    if (this.#waiting > 0)
      this.#ctx.log.warn({ waiting: this.#waiting }, 'webhook results were not written before the stop');
    this.#stopping.abort();
  }

  /** Tries again while the database is unavailable. The leases decide whether the result is in time. */
  async #writeAll(batch: Settlement[]): Promise<boolean[]> {
    const { signal } = this.#stopping;
    while (!signal.aborted)
      try {
        await settle(this.#ctx, batch);
        return batch.map(() => true);
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        this.#ctx.log.warn(
          { error: describeError(error), waiting: this.#waiting },
          'webhook results could not be written yet',
        );
        // An abort ends the pause with an error. The loop checks the signal itself.
        await pause(RETRY_WRITE_AFTER_MS, undefined, { signal }).catch(() => {});
      }
    return batch.map(() => false);
  }
}
