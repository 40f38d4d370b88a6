// The two lifecycles are data. Endpoints, admin buttons, events and the OpenAPI document all read these tables.

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
/** The first status of a repair without a `startStatus`. */
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
  'ITEMS_RECEIVED',
  'NOTE_ADDED',
  'ASSIGNED',
  'CORRECTED',
  'WAITING_SET',
  'WAITING_CLEARED',
  'ERASED',
] as const;
export type TimelineType = (typeof TIMELINE_TYPES)[number];

/** A lifecycle action. `to` is null if the status stays, and `entry` is the type of its timeline entry. */
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

export const TRADE_RETURN_STATUSES = [
  'TRADE_SUBMITTED',
  'TRADE_APPROVED',
  'TRADE_REJECTED',
  'TRADE_RECEIVED',
  'TRADE_CREDIT_REQUESTED',
  'TRADE_RESOLVED',
] as const;
export type TradeReturnStatus = (typeof TRADE_RETURN_STATUSES)[number];
export const TRADE_RETURN_START: TradeReturnStatus = 'TRADE_SUBMITTED';

interface GuardedMove extends Move<TradeReturnStatus> {
  from: readonly TradeReturnStatus[];
  to: TradeReturnStatus;
}

/** The moves by the shop's staff, each allowed only from certain statuses. */
export const TRADE_RETURN_MOVES = {
  approve: {
    from: ['TRADE_SUBMITTED'],
    to: 'TRADE_APPROVED',
    entry: 'STATUS_CHANGED',
    event: 'trade_return.status_changed',
  },
  reject: {
    from: ['TRADE_SUBMITTED', 'TRADE_APPROVED'],
    to: 'TRADE_REJECTED',
    entry: 'STATUS_CHANGED',
    event: 'trade_return.status_changed',
  },
  receive: {
    from: ['TRADE_APPROVED'],
    to: 'TRADE_RECEIVED',
    entry: 'STATUS_CHANGED',
    event: 'trade_return.status_changed',
  },
  'request-credit': {
    from: ['TRADE_RECEIVED'],
    to: 'TRADE_CREDIT_REQUESTED',
    entry: 'CREDIT_REQUESTED',
    event: 'trade_return.credit_requested',
  },
  resolve: {
    from: ['TRADE_RECEIVED', 'TRADE_CREDIT_REQUESTED'],
    to: 'TRADE_RESOLVED',
    entry: 'RESOLVED',
    event: 'trade_return.resolved',
  },
} as const satisfies Record<string, GuardedMove>;
export type TradeReturnAction = keyof typeof TRADE_RETURN_MOVES;

/** A `receive` with lines while more goods are expected, or to correct counts, leaves the status unchanged. */
export const TRADE_RETURN_RECEIPT = {
  from: ['TRADE_APPROVED', 'TRADE_RECEIVED'],
  to: null,
  entry: 'ITEMS_RECEIVED',
  event: 'trade_return.items_received',
} as const satisfies Move<TradeReturnStatus> & { from: readonly TradeReturnStatus[] };

/** A return has a credit only in these statuses. */
export const CREDIT_STATUSES: readonly TradeReturnStatus[] = [
  'TRADE_RECEIVED',
  'TRADE_CREDIT_REQUESTED',
  'TRADE_RESOLVED',
];

/** The moves that are allowed from a status, in the order of the table. */
export const openTradeMoves = (status: TradeReturnStatus): TradeReturnAction[] =>
  (Object.keys(TRADE_RETURN_MOVES) as TradeReturnAction[]).filter((action) =>
    (TRADE_RETURN_MOVES[action].from as readonly TradeReturnStatus[]).includes(status),
  );

/** The name of a move of any kind. */
export type ReturnAction = OfflineRepairAction | TradeReturnAction;

/** The moves of all kinds. */
export const RETURN_MOVES: readonly (Move<string> & { from?: readonly string[] })[] = [
  ...Object.values(OFFLINE_REPAIR_MOVES),
  ...Object.values(TRADE_RETURN_MOVES),
  TRADE_RETURN_RECEIPT,
];

/** The timeline types of moves. Such an entry changes status, disposition, tracking or received quantities. */
export const MOVE_ENTRIES: readonly TimelineType[] = [...new Set(RETURN_MOVES.map(({ entry }) => entry))];

/** The reasons why work on a return may wait. */
export const WAITING_FOR = ['PART', 'CUSTOMER', 'SUPPLIER'] as const;

/** The replacement of an erased text. A nullable field becomes null instead. */
export const ERASED_TEXT = '[erased]';
export const ERASED_EMAIL = 'erased@erased.invalid';
