// The two lifecycles as data. Endpoints, admin buttons, events and the OpenAPI document all read these tables.

export const OFFLINE_REPAIR_STATUSES = [
  'COUNTER_SWAPPED',
  'OFFLINE_DIAGNOSTICS',
  'OFFLINE_REPAIR',
  'OFFLINE_RESOLVED',
  'OFFLINE_CLOSED',
] as const;
export type OfflineRepairStatus = (typeof OFFLINE_REPAIR_STATUSES)[number];

export const START_STATUSES = [
  'COUNTER_SWAPPED',
  'OFFLINE_DIAGNOSTICS',
] as const satisfies OfflineRepairStatus[];
/** Where a repair begins when the caller names no `startStatus`. */
export const DEFAULT_START_STATUS: OfflineRepairStatus = 'OFFLINE_DIAGNOSTICS';

export const DISPOSITIONS = ['RESTOCK_MASTER', 'RESTOCK_CHILD', 'WRITE_OFF', 'RETURN_TO_SUPPLIER'] as const;

export const TIMELINE_TYPES = [
  'CREATED',
  'TRACKING_UPLOADED',
  'STATUS_CHANGED',
  'DISPOSITION_SET',
  'CLOSED',
  'CREDIT_REQUESTED',
  'RESOLVED',
  'NOTE_ADDED',
] as const;
export type TimelineType = (typeof TIMELINE_TYPES)[number];

/** One lifecycle action: `to` is null where the status stays; `entry` is what the timeline calls it; `event` is what it fires. */
interface Move<Status extends string> {
  to: Status | null;
  entry: TimelineType;
  event: `${'offline_repair' | 'trade_return'}.${string}`;
}

/** A repair may be moved from any status (specification, "States and transitions"), so no row has a `from`. */
export const OFFLINE_REPAIR_MOVES = {
  tracking: { to: null, entry: 'TRACKING_UPLOADED', event: 'offline_repair.tracking_uploaded' },
  'begin-diagnostics': {
    to: 'OFFLINE_DIAGNOSTICS',
    entry: 'STATUS_CHANGED',
    event: 'offline_repair.status_changed',
  },
  'begin-repair': { to: 'OFFLINE_REPAIR', entry: 'STATUS_CHANGED', event: 'offline_repair.status_changed' },
  resolve: { to: 'OFFLINE_RESOLVED', entry: 'DISPOSITION_SET', event: 'offline_repair.disposition_set' },
  close: { to: 'OFFLINE_CLOSED', entry: 'CLOSED', event: 'offline_repair.closed' },
} as const satisfies Record<string, Move<OfflineRepairStatus>>;
export type OfflineRepairAction = keyof typeof OFFLINE_REPAIR_MOVES;
