import { RETURN_KINDS } from '../../../../contract/kinds.ts';
import {
  DISPOSITIONS,
  OFFLINE_REPAIR_MOVES,
  OFFLINE_REPAIR_STATUSES,
  type OfflineRepairAction,
  openTradeMoves,
  TRADE_RETURN_MOVES,
  type TradeReturnAction,
} from '../../../../contract/lifecycle.ts';
import type { OfflineRepair } from '../../../../contract/offline-repair.ts';
import type { TradeReturn } from '../../../../contract/trade-return.ts';
import { texts } from '../../texts.ts';
import {
  type AnyReturn,
  DISPOSITION_LABELS,
  describeStatus,
  dispositionLabel,
  REPAIR_MOVE_LABELS,
  TRADE_MOVE_LABELS,
} from '../kinds.ts';

const words = texts.moves;

export interface MoveField {
  name: string;
  label: string;
  description?: string;
  as: 'line' | 'text' | 'choice' | 'amount';
  required: boolean;
  choices?: { value: string; label: string; description: string }[];
}

export type MoveBody = Record<string, string | number | null>;

export interface StaffMove<Item> {
  action: string;
  /** The status it leads to; null where the status stays. */
  to: string | null;
  label: string;
  done: string;
  fields: MoveField[];
  /** Asked only where one return is moved, not many. */
  ownFields: MoveField[];
  /** Where it is done on a page of its own. */
  page?: '/trade-returns/$id/receive';
  initialValues(item: Item): Record<string, string>;
  isOpen(item: Item): boolean;
  /** Whether it is what people most likely do next. */
  isNext(item: Item): boolean;
  isRejection: boolean;
  warning(item: Item): string | null;
}

const field = (
  as: MoveField['as'],
  name: string,
  label: string,
  more: Pick<Partial<MoveField>, 'description' | 'required' | 'choices'> = {},
): MoveField => ({ as, name, label, required: false, ...more });

const notesField = (name: string, label: string): MoveField =>
  field('text', name, label, { description: words.inTimeline });

const REPAIR_FIELDS: Record<OfflineRepairAction, MoveField[]> = {
  tracking: [
    field('line', 'trackingNumber', words.trackingNumber, { required: true }),
    field('line', 'carrierName', words.carrier, { required: true }),
  ],
  'begin-diagnostics': [notesField('notes', words.notes)],
  'begin-repair': [
    field('line', 'assignedToId', words.technician, { description: words.technicianHint }),
    field('text', 'repairNotes', words.repairNotes, { description: words.repairNotesHint }),
  ],
  resolve: [
    field('choice', 'offlineDisposition', words.outcome, {
      required: true,
      choices: DISPOSITIONS.map((value) => ({ value, ...DISPOSITION_LABELS[value] })),
    }),
    notesField('notes', words.notes),
  ],
  close: [],
};

const CURRENT_VALUES: Record<string, (repair: OfflineRepair) => string | null> = {
  trackingNumber: ({ trackingNumber }) => trackingNumber,
  carrierName: ({ carrierName }) => carrierName,
  assignedToId: ({ assignedToId }) => assignedToId,
  offlineDisposition: ({ offlineDisposition }) => offlineDisposition,
};

/** From here on a repair's work is done; a move back begins it anew. */
const DONE: readonly OfflineRepair['status'][] = ['OFFLINE_RESOLVED', ...RETURN_KINDS.offline_repairs.ended];
export const isDone = (status: OfflineRepair['status']): boolean => DONE.includes(status);

const reopens = (from: OfflineRepair['status'], to: OfflineRepair['status'] | null): boolean =>
  to !== null && isDone(from) && DONE.indexOf(to) < DONE.indexOf(from);

const reopeningWarning = (
  { status, offlineDisposition }: OfflineRepair,
  to: OfflineRepair['status'] | null,
) => {
  if (!reopens(status, to)) return null;
  const outcome = to === 'OFFLINE_RESOLVED' ? null : offlineDisposition;
  return words.reopens(describeStatus(status).label, outcome && dispositionLabel(outcome));
};

/** The contract lists the statuses in the order of the work. */
const nextStatus = (status: OfflineRepair['status']) =>
  OFFLINE_REPAIR_STATUSES[OFFLINE_REPAIR_STATUSES.indexOf(status) + 1];

export const REPAIR_MOVES: StaffMove<OfflineRepair>[] = (
  Object.keys(OFFLINE_REPAIR_MOVES) as OfflineRepairAction[]
).map((action) => {
  const { to } = OFFLINE_REPAIR_MOVES[action];
  return {
    action,
    to,
    ...REPAIR_MOVE_LABELS[action],
    fields: REPAIR_FIELDS[action],
    ownFields: [],
    initialValues: (repair) =>
      Object.fromEntries(
        REPAIR_FIELDS[action].map(({ name }) => [name, CURRENT_VALUES[name]?.(repair) ?? '']),
      ),
    isOpen: ({ erasedAt }) => !erasedAt,
    isNext: ({ status }) => to !== null && nextStatus(status) === to,
    isRejection: false,
    warning: (repair) => reopeningWarning(repair, to),
  };
});

/** Often open, but never the likely next move. */
const REJECTION: TradeReturnAction = 'reject';

const OWN_TRADE_FIELDS: Partial<Record<TradeReturnAction, MoveField[]>> = {
  'request-credit': [
    field('amount', 'creditAmount', words.otherAmount, { description: words.otherAmountHint }),
  ],
};

const endsTrade = (action: TradeReturnAction): boolean =>
  (RETURN_KINDS.trade_returns.ended as readonly string[]).includes(TRADE_RETURN_MOVES[action].to);

export const TRADE_MOVES: StaffMove<TradeReturn>[] = (
  Object.keys(TRADE_RETURN_MOVES) as TradeReturnAction[]
).map((action) => ({
  action,
  to: TRADE_RETURN_MOVES[action].to,
  ...TRADE_MOVE_LABELS[action],
  fields: [notesField('note', words.note)],
  ownFields: OWN_TRADE_FIELDS[action] ?? [],
  ...(action === 'receive' ? { page: '/trade-returns/$id/receive' as const } : {}),
  initialValues: () => ({ note: '', ...(action in OWN_TRADE_FIELDS ? { creditAmount: '' } : {}) }),
  isOpen: ({ status, erasedAt }) => !erasedAt && openTradeMoves(status).includes(action),
  isNext: ({ status }) => openTradeMoves(status).find((open) => open !== REJECTION) === action,
  isRejection: action === REJECTION,
  warning: () => (endsTrade(action) ? words.endsReturn : null),
}));

/** Whether it happens at once: nothing has to be filled in, and there is nothing to think twice about. A move to the status it has already is for its notes. */
export const isOneClick = <Item extends { status: string }>(move: StaffMove<Item>, item: Item): boolean =>
  move.to !== item.status &&
  !move.page &&
  !move.isRejection &&
  move.ownFields.length === 0 &&
  !move.fields.some(({ required }) => required) &&
  move.warning(item) === null;

/** Plain data, so that the scan station can keep it. */
export interface MoveBack {
  id: string;
  action: OfflineRepairAction;
  body: MoveBody;
  seen: string;
  waitingFor: AnyReturn['waitingFor'];
}

/** The move that leads back to what a return was before; null where none does. Trade returns only move on. */
export const moveBack = (before: AnyReturn, after: AnyReturn): MoveBack | null => {
  if (!('faultyItem' in before) || before.status === after.status) return null;
  const action = (Object.keys(OFFLINE_REPAIR_MOVES) as OfflineRepairAction[]).find(
    (each) => OFFLINE_REPAIR_MOVES[each].to === before.status,
  );
  if (!action) return null;
  const { id, offlineDisposition, waitingFor } = before;
  if (action === 'resolve' && !offlineDisposition) return null;
  const body: MoveBody = action === 'resolve' ? { offlineDisposition } : {};
  return { id, action, body, seen: after.updatedAt, waitingFor };
};
