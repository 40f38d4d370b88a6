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
  before: number;
  status: DeliveryStatus;
  attempts: Attempt[];
  dueAt: number;
  finishedAt: number | null;
  reason: string | null;
}

const COLUMNS = {
  id: 'id',
  before: 'integer',
  status: 'text',
  attempts: 'integer',
  log: 'text',
  dueAt: 'integer',
  finishedAt: 'integer',
  reason: 'text',
} as const;

/**
 * A process that slept through its lease overwrites nothing: the number of attempts must be the one that it began with. All statuses
 * are named, so that PostgreSQL expects few rows and looks each one up instead of reading all.
 */
const settling = statement(
  ({ rows }, { ended }: { ended: object[] }) => sql`
    update webhook_deliveries
    set status = settled.status, attempts = settled.attempts, attempt_log = settled.log,
      due_at = settled."dueAt", finished_at = settled."finishedAt", reason = settled.reason
    from ${rows('settled', COLUMNS, ended)}
    where webhook_deliveries.id = settled.id and webhook_deliveries.status = ${PENDING}
      and webhook_deliveries.attempts = settled.before and settled.status in ('PENDING', 'DELIVERED', 'DROPPED')`,
);

export const settle = async ({ webhooks, fill }: Core, settlements: Settlement[]): Promise<void> => {
  const ended = settlements.map(({ attempts, ...rest }) => ({
    ...rest,
    attempts: Math.max(rest.before, attempts.length),
    log: JSON.stringify(attempts),
  }));
  await webhooks.executeQuery(fill(settling, { ended }));
};

/** SQLite blocks the event loop meanwhile: with 256, events of healthy receivers came 10 ms later while others timed out at once. */
const BATCH = 64;
const AGAIN_AFTER_MS = 500;

/** Writes settlements in batches. What waits here is bounded by the slots of the pools. */
export class Settler {
  readonly #ctx: Core;
  readonly #write: (settlement: Settlement) => Promise<boolean>;
  readonly #stopping = new AbortController();
  #waiting = 0;

  constructor(ctx: Core) {
    this.#ctx = ctx;
    // A batch that the database refuses is tried again item by item.
    this.#write = batched((batch: Settlement[]) => this.#writeAll(batch), {
      most: BATCH,
      deadlineOf: () => Number.POSITIVE_INFINITY,
      afterFailure,
    });
  }

  /** True once it is written, false where a stop gave it up. Rejects where the database refuses this one for good. */
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
  /** What is not written yet stays unwritten: another process makes these attempts again (docs/contract.md). */
  giveUp(): void {
    if (this.#waiting > 0)
      this.#ctx.log.warn({ waiting: this.#waiting }, 'webhook results were not written before the stop');
    this.#stopping.abort();
  }

  /** Tries again while the database is away; the leases decide whether that was in time. */
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
        // An abort only ends the pause; the loop sees it.
        await pause(AGAIN_AFTER_MS, undefined, { signal }).catch(() => {});
      }
    return batch.map(() => false);
  }
}
