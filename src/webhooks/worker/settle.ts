import { sql } from 'kysely';
import type { Context } from '../../context.ts';
import type { DeliveryStatus } from '../../db/schema.ts';
import { statement } from '../../db/statements.ts';
import type { Attempt } from '../attempts.ts';
import { PENDING } from '../queue.ts';

/** How an attempt ended. */
export interface Settlement {
  id: string;
  /** How many attempts there were before. */
  before: number;
  status: DeliveryStatus;
  attempts: Attempt[];
  dueAt: number;
  finishedAt: number | null;
  /** Why it was dropped; null unless it was. */
  reason: string | null;
}

/**
 * Writes down how attempts ended. A process that slept through its lease overwrites nothing: a settlement counts only where
 * the number of attempts is still the one it began with.
 */
export const settle = async (
  { withoutFsync, fill }: Pick<Context, 'withoutFsync' | 'fill'>,
  settlements: Settlement[],
): Promise<void> => {
  const ended = settlements.map(({ id, before, status, attempts, dueAt, finishedAt, reason }) => ({
    id,
    before,
    status,
    attempts: Math.max(before, attempts.length),
    log: JSON.stringify(attempts),
    due_at: dueAt,
    finished_at: finishedAt,
    reason,
  }));
  await withoutFsync.executeQuery(fill(settling, { ended }));
};

const COLUMNS = {
  id: 'id',
  before: 'integer',
  status: 'text',
  attempts: 'integer',
  log: 'text',
  due_at: 'integer',
  finished_at: 'integer',
  reason: 'text',
} as const;

/** All there are: named in the statement, they make PostgreSQL expect few rows, and look each one up instead of reading all. */
const STATUSES: DeliveryStatus[] = ['PENDING', 'DELIVERED', 'DROPPED'];

const settling = statement(
  ({ rows }, { ended }: { ended: object[] }) => sql`
    update webhook_deliveries
    set status = settled.status, attempts = settled.attempts, attempt_log = settled.log,
      due_at = settled.due_at, finished_at = settled.finished_at, reason = settled.reason
    from ${rows('settled', COLUMNS, ended)}
    where webhook_deliveries.id = settled.id and webhook_deliveries.status = ${PENDING}
      and webhook_deliveries.attempts = settled.before and settled.status in (${sql.join(STATUSES.map((status) => sql.lit(status)))})`,
);
