import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { SetWaitingFor, StaffWaitingFor } from '../../contract/admin-returns.ts';
import type { ReturnTable } from '../../contract/kinds.ts';
import { DAY_MS, isoOrNull, toIso } from '../lib/time.ts';
import { ServiceError } from '../platform/errors.ts';
import type { Targets } from '../shops/settings.ts';
import type { ChangePlan } from './kinds/change-plan.ts';
import { openStatuses, type ReturnRow } from './store.ts';

// What the work on a return waits for. While it waits, its target days stand still: `due_from` is `status_since` plus the time
// that it has waited in its status.

export const NOT_WAITING = {
  waiting_for: null,
  waiting_until: null,
  waiting_since: null,
  waiting_note: null,
} as const;

type WaitingRow = Pick<ReturnRow, 'status_since' | 'due_from' | keyof typeof NOT_WAITING>;

const dueFromOf = ({ status_since, due_from }: WaitingRow): number => due_from ?? status_since;

export const viewWaiting = (row: WaitingRow): Omit<StaffWaitingFor, 'note'> | null =>
  row.waiting_since === null || row.waiting_for === null
    ? null
    : { what: row.waiting_for, until: isoOrNull(row.waiting_until), since: toIso(row.waiting_since) };

export const viewWaitingForStaff = (row: WaitingRow): StaffWaitingFor | null => {
  const waiting = viewWaiting(row);
  return waiting && { ...waiting, note: row.waiting_note };
};

/** Returns null if nothing would change. Another reason, time or note does not begin a new wait. */
export const planWaiting = (
  table: ReturnTable,
  before: ReturnRow,
  wanted: SetWaitingFor | null,
  at: number,
): Omit<ChangePlan, 'event'> | null => {
  if (!openStatuses(table).includes(before.status))
    throw new ServiceError('MOVE_NOT_ALLOWED', {
      message: `The return is ${before.status}, so it cannot wait for anything any more.`,
    });
  const since = before.waiting_since;
  if (wanted === null) {
    if (since === null) return null;
    const set = { ...NOT_WAITING, due_from: dueFromOf(before) + at - since };
    return { set, entry: 'WAITING_CLEARED', note: null, data: { what: before.waiting_for } };
  }
  const { what, until, note } = wanted;
  const isSame =
    before.waiting_for === what && before.waiting_until === until && before.waiting_note === note;
  if (since !== null && isSame) return null;
  const set = {
    waiting_for: what,
    waiting_until: until,
    waiting_note: note,
    waiting_since: since ?? at,
  };
  return { set, entry: 'WAITING_SET', note: null, data: { what, until: isoOrNull(until), note } };
};

// --- due times ---

type DueRow = WaitingRow & Pick<ReturnRow, 'status' | 'erased_at'>;

/** When a return becomes overdue in its status; null if the status has no target, the return waits or was erased. */
export const dueAtOf = (targets: Targets, row: DueRow): number | null => {
  const days = targets.get(row.status);
  return days === undefined || row.erased_at !== null || row.waiting_since !== null
    ? null
    : dueFromOf(row) + days * DAY_MS;
};

export const IS_WAITING = sql<SqlBool>`waiting_since is not null`;
export const IS_NOT_WAITING = sql<SqlBool>`waiting_since is null`;

const targetParam = (status: string): string => `target ${status}`;

/** The statuses of a kind with target days, and their target times in milliseconds as parameters. */
export const targetParams = (targets: Targets, table: ReturnTable) => {
  const statuses = openStatuses(table).filter((status) => targets.has(status));
  const targetMs = statuses.map((status) => (targets.get(status) ?? 0) * DAY_MS);
  const values = Object.fromEntries(statuses.map((status, i) => [targetParam(status), targetMs[i] ?? 0]));
  return { statuses, values, shortestMs: statuses.length === 0 ? 0 : Math.min(...targetMs) };
};
export type TargetParams = ReturnType<typeof targetParams>;

/** Like `dueAtOf`, as an expression for open returns with the values of `targetParams`. */
export const dueAtSql = (statuses: string[], params: Record<string, unknown>): RawBuilder<number | null> => {
  if (statuses.length === 0) return sql<null>`cast(null as bigint)`;
  const targets = statuses.map(
    (status) => sql`when ${sql.lit(status)} then cast(${params[targetParam(status)]} as bigint)`,
  );
  return sql<number | null>`case when ${IS_WAITING} then null
    else coalesce(due_from, status_since) + (case status ${sql.join(targets, sql` `)} end) end`;
};
