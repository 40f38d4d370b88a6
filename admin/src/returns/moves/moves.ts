import {
  DISPOSITIONS,
  ENDED_STATUSES,
  OFFLINE_REPAIR_MOVES,
  OFFLINE_REPAIR_STATUSES,
  type OfflineRepairAction,
  openTradeMoves,
  TRADE_RETURN_MOVES,
  type TradeReturnAction,
} from '../../../../contract/lifecycle.ts';
import type { OfflineRepair } from '../../../../contract/offline-repair.ts';
import type { TradeReturn } from '../../../../contract/trade-return.ts';
import { DISPOSITION_LABELS, describeStatus, REPAIR_MOVE_LABELS, TRADE_MOVE_LABELS } from '../kinds.ts';

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
  field('text', name, label, { description: 'Kept with the entry in the timeline.' });

const REPAIR_FIELDS: Record<OfflineRepairAction, MoveField[]> = {
  tracking: [
    field('line', 'trackingNumber', 'Tracking number', { required: true }),
    field('line', 'carrierName', 'Carrier', { required: true }),
  ],
  'begin-diagnostics': [notesField('notes', 'Notes')],
  'begin-repair': [
    field('line', 'assignedToId', 'Technician', {
      description: 'Your own identifier of them. Empty keeps the one named before.',
    }),
    field('text', 'repairNotes', 'Repair notes', { description: 'Empty keeps the notes made before.' }),
  ],
  resolve: [
    field('choice', 'offlineDisposition', 'What becomes of the item', {
      required: true,
      choices: DISPOSITIONS.map((value) => ({ value, ...DISPOSITION_LABELS[value] })),
    }),
    notesField('notes', 'Notes'),
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
const DONE: readonly OfflineRepair['status'][] = ['OFFLINE_RESOLVED', ...ENDED_STATUSES.offline_repairs];
export const isDone = (status: OfflineRepair['status']): boolean => DONE.includes(status);

const reopens = (from: OfflineRepair['status'], to: OfflineRepair['status'] | null): boolean =>
  to !== null && isDone(from) && DONE.indexOf(to) < DONE.indexOf(from);

const reopeningWarning = (
  { status, offlineDisposition }: OfflineRepair,
  to: OfflineRepair['status'] | null,
) => {
  if (!reopens(status, to)) return null;
  const stays =
    offlineDisposition && to !== 'OFFLINE_RESOLVED'
      ? ` The disposition ${DISPOSITION_LABELS[offlineDisposition].label} stays until the repair is resolved again.`
      : '';
  return `This repair is ${describeStatus(status).label.toLowerCase()}; this opens it again.${stays}`;
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
    field('amount', 'creditAmount', 'Another amount', {
      description: 'Empty asks for the credit above. Another amount needs a note that says why.',
    }),
  ],
};

const endsTrade = (action: TradeReturnAction): boolean =>
  (ENDED_STATUSES.trade_returns as readonly string[]).includes(TRADE_RETURN_MOVES[action].to);

export const TRADE_MOVES: StaffMove<TradeReturn>[] = (
  Object.keys(TRADE_RETURN_MOVES) as TradeReturnAction[]
).map((action) => ({
  action,
  ...TRADE_MOVE_LABELS[action],
  fields: [notesField('note', 'Note')],
  ownFields: OWN_TRADE_FIELDS[action] ?? [],
  ...(action === 'receive' ? { page: '/trade-returns/$id/receive' as const } : {}),
  initialValues: () => ({ note: '' }),
  isOpen: ({ status, erasedAt }) => !erasedAt && openTradeMoves(status).includes(action),
  isNext: ({ status }) => openTradeMoves(status).find((open) => open !== REJECTION) === action,
  isRejection: action === REJECTION,
  warning: () => (endsTrade(action) ? 'This ends the return: no other move is open after it.' : null),
}));
