import type { Targets } from '../shops/target-days.ts';
import { DUE_PARAM, dueParam } from './list-conditions.ts';
import { openStatuses } from './open.ts';
import type { RmaTableName } from './visibility.ts';

const DAY_MS = 86_400_000;

/** When a return is overdue in its status; null where that has no target. What has ended is never overdue. */
export const dueAtOf = (targets: Targets, status: string, statusSince: number): number | null => {
  const days = targets.get(status);
  return days === undefined ? null : statusSince + days * DAY_MS;
};

/** The statuses of a kind in which returns may be overdue now, and since when they must have them: values for `isOverdue`. */
export const dueTimes = (
  targets: Targets,
  table: RmaTableName,
  nowMs: number,
): { statuses: string[]; values: Record<string, number> } => {
  const statuses = openStatuses(table).filter((status) => targets.has(status));
  const since = statuses.map((status) => nowMs - (targets.get(status) ?? 0) * DAY_MS);
  const values = Object.fromEntries(statuses.map((status, i) => [dueParam(status), since[i] ?? 0]));
  return { statuses, values: { ...values, [DUE_PARAM]: Math.max(0, ...since) } };
};
