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
import { DISPOSITION_LABELS, REPAIR_MOVE_LABELS, TRADE_MOVE_LABELS } from '../labels.ts';

// The contract's tables of moves as buttons and dialogs.

export interface MoveField {
  name: string;
  label: string;
  description?: string;
  as: 'line' | 'text' | 'choice';
  required: boolean;
  choices?: { value: string; label: string; says: string }[];
}

/** What is sent with a move. */
export type MoveBody = Record<string, string | null>;

/** A move as staff make it: what it is called, what it asks for, when it is open and when it is the obvious next one. */
export interface StaffMove<Item> {
  action: string;
  label: string;
  done: string;
  fields: MoveField[];
  /** What the fields begin with. */
  given(item: Item): Record<string, string>;
  isOpen(item: Item): boolean;
  isNext(item: Item): boolean;
  isRejection: boolean;
  /** Worth a word before it is made. */
  warning(item: Item): string | null;
}

const notesField = (name: string, label: string): MoveField => ({
  name,
  label,
  description: 'Kept with the entry in the timeline.',
  as: 'text',
  required: false,
});

const REPAIR_FIELDS: Record<OfflineRepairAction, MoveField[]> = {
  tracking: [
    { name: 'trackingNumber', label: 'Tracking number', as: 'line', required: true },
    { name: 'carrierName', label: 'Carrier', as: 'line', required: true },
  ],
  'begin-diagnostics': [notesField('notes', 'Notes')],
  'begin-repair': [
    {
      name: 'assignedToId',
      label: 'Technician',
      description: 'Your own identifier of them. Empty keeps the one named before.',
      as: 'line',
      required: false,
    },
    {
      name: 'repairNotes',
      label: 'Repair notes',
      description: 'Empty keeps the notes made before.',
      as: 'text',
      required: false,
    },
  ],
  resolve: [
    {
      name: 'offlineDisposition',
      label: 'What becomes of the item',
      as: 'choice',
      required: true,
      choices: DISPOSITIONS.map((value) => ({ value, ...DISPOSITION_LABELS[value] })),
    },
    notesField('notes', 'Notes'),
  ],
  close: [],
};

const GIVEN: Record<string, (repair: OfflineRepair) => string | null> = {
  trackingNumber: ({ trackingNumber }) => trackingNumber,
  carrierName: ({ carrierName }) => carrierName,
  assignedToId: ({ assignedToId }) => assignedToId,
  offlineDisposition: ({ offlineDisposition }) => offlineDisposition,
};

const isEnded = (status: OfflineRepair['status']): boolean =>
  (ENDED_STATUSES.offline_repairs as readonly string[]).includes(status);

/** The statuses stand in the order of the work, so the next one is what a repair most often needs. */
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
    given: (repair) =>
      Object.fromEntries(REPAIR_FIELDS[action].map(({ name }) => [name, GIVEN[name]?.(repair) ?? ''])),
    isOpen: () => true,
    isNext: ({ status }) => to !== null && nextStatus(status) === to,
    isRejection: false,
    warning: ({ status }) =>
      to !== null && isEnded(status) && to !== status ? 'This repair is closed; this opens it again.' : null,
  };
});

/** Open in time, but never what one would do first. */
const REFUSAL: TradeReturnAction = 'reject';

const endsTrade = (action: TradeReturnAction): boolean =>
  (ENDED_STATUSES.trade_returns as readonly string[]).includes(TRADE_RETURN_MOVES[action].to);

export const TRADE_MOVES: StaffMove<TradeReturn>[] = (
  Object.keys(TRADE_RETURN_MOVES) as TradeReturnAction[]
).map((action) => ({
  action,
  ...TRADE_MOVE_LABELS[action],
  fields: [notesField('note', 'Note')],
  given: () => ({ note: '' }),
  isOpen: ({ status }) => openTradeMoves(status).includes(action),
  isNext: ({ status }) => openTradeMoves(status).find((open) => open !== REFUSAL) === action,
  isRejection: action === REFUSAL,
  warning: () => (endsTrade(action) ? 'This ends the return: no other move is open after it.' : null),
}));
