import type { AdminOfflineRepair, AdminTradeReturn } from '../../../contract/admin-returns.ts';
import { FINAL_STATUSES } from '../../../contract/kinds.ts';
import {
  type DISPOSITIONS,
  OFFLINE_REPAIR_STATUSES,
  type OfflineRepairAction,
  type OfflineRepairStatus,
  TRADE_RETURN_STATUSES,
  type TradeReturnAction,
  type TradeReturnStatus,
} from '../../../contract/lifecycle.ts';
import { formatNumber } from '../format.ts';
import { texts } from '../texts.ts';

const words = texts.returns;

export type AnyReturn = AdminOfflineRepair | AdminTradeReturn;

export const REPAIRS = {
  path: '/offline-repairs',
  detail: '/offline-repairs/$id',
  add: '/offline-repairs/new',
  overview: 'offlineRepairs',
  savedKind: 'OFFLINE_REPAIR',
  ...words.repairKind,
  statuses: OFFLINE_REPAIR_STATUSES,
  filters: ['storeId', 'store', 'isDangerous', 'disposition'],
} as const;
export const TRADE_RETURNS = {
  path: '/trade-returns',
  detail: '/trade-returns/$id',
  add: '/trade-returns/new',
  overview: 'tradeReturns',
  savedKind: 'TRADE_RETURN',
  ...words.tradeKind,
  statuses: TRADE_RETURN_STATUSES,
  filters: ['companyId', 'company'],
} as const;
export type Kind = typeof REPAIRS | typeof TRADE_RETURNS;
export const KINDS = [REPAIRS, TRADE_RETURNS] as const;
/** By the name that the service gives them. */
export const KIND_OF = { OFFLINE_REPAIR: REPAIRS, TRADE_RETURN: TRADE_RETURNS } as const;
/** Some of it has come, and more is to come. */
export const isPartlyReceived = (item: AnyReturn): boolean =>
  'companyName' in item &&
  item.status === 'TRADE_APPROVED' &&
  item.items.some(({ received }) => received > 0);

/** Without those of a newer service's kinds, for which this page has no pages. */
export const ofKnownKinds = <Item extends { kind: string }>(items: readonly Item[]): Item[] =>
  items.filter(({ kind }) => Object.hasOwn(KIND_OF, kind));

/** One line where it was erased. */
export const addressLines = ({ shippingAddress }: Pick<AdminTradeReturn, 'shippingAddress'>): string[] => {
  const { street, suburb, state, postcode } = shippingAddress;
  return [...new Set([street, suburb === street ? street : `${suburb} ${state} ${postcode}`])];
};

export const countOf = (count: number, { one, many }: Kind): string =>
  `${formatNumber(count)} ${count === 1 ? one : many}`;

interface StatusLook {
  label: string;
  color: string;
  /** Nothing is left to do. */
  isOver?: true;
}

const STATUS_COLORS: Record<OfflineRepairStatus | TradeReturnStatus, Omit<StatusLook, 'label'>> = {
  COUNTER_SWAPPED: { color: 'grape' },
  OFFLINE_DIAGNOSTICS: { color: 'cyan' },
  OFFLINE_REPAIR: { color: 'orange' },
  OFFLINE_RESOLVED: { color: 'teal' },
  OFFLINE_CLOSED: { color: 'gray', isOver: true },
  TRADE_SUBMITTED: { color: 'cyan' },
  TRADE_APPROVED: { color: 'lime' },
  TRADE_REJECTED: { color: 'red', isOver: true },
  TRADE_RECEIVED: { color: 'orange' },
  TRADE_CREDIT_REQUESTED: { color: 'grape' },
  TRADE_RESOLVED: { color: 'teal', isOver: true },
};

/** A newer service may have statuses that this page does not know; they are shown as they are. */
export const describeStatus = (status: string): StatusLook => {
  const known = status as keyof typeof STATUS_COLORS;
  return { label: words.statuses[known] ?? status, ...(STATUS_COLORS[known] ?? { color: 'gray' }) };
};

export const isEnded = (status: string): boolean => FINAL_STATUSES.includes(status);

export const DISPOSITION_LABELS: Record<
  (typeof DISPOSITIONS)[number],
  { label: string; description: string }
> = words.dispositions;
export const describeDisposition = (disposition: string): { label: string; description: string } =>
  DISPOSITION_LABELS[disposition as keyof typeof DISPOSITION_LABELS] ?? {
    label: disposition,
    description: '',
  };
export const dispositionLabel = (disposition: string): string => describeDisposition(disposition).label;

type MoveLabels = { label: string; done: string };
export const REPAIR_MOVE_LABELS: Record<OfflineRepairAction, MoveLabels> = words.repairMoves;
export const TRADE_MOVE_LABELS: Record<TradeReturnAction, MoveLabels> = words.tradeMoves;

export const CORRECTED_LABELS = words.corrected;
export const ORIGIN_LABELS = words.origins;

/** The element in which a note about a return is written, on its page. */
export const noteFieldId = (id: string): string => `note-${id}`;
