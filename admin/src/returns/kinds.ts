import type { AdminOfflineRepair, AdminTradeReturn } from '../../../contract/admin-returns.ts';
import {
  type DISPOSITIONS,
  OFFLINE_REPAIR_STATUSES,
  type OfflineRepairAction,
  type OfflineRepairStatus,
  TRADE_RETURN_STATUSES,
  type TradeReturnAction,
  type TradeReturnStatus,
} from '../../../contract/lifecycle.ts';

export type AnyReturn = AdminOfflineRepair | AdminTradeReturn;

export const REPAIRS = {
  path: '/offline-repairs',
  detail: '/offline-repairs/$id',
  add: '/offline-repairs/new',
  overview: 'offlineRepairs',
  savedKind: 'OFFLINE_REPAIR',
  title: 'Offline repairs',
  one: 'repair',
  many: 'repairs',
  statuses: OFFLINE_REPAIR_STATUSES,
  filters: ['storeId', 'store', 'isDangerous', 'disposition'],
} as const;
export const TRADE_RETURNS = {
  path: '/trade-returns',
  detail: '/trade-returns/$id',
  add: '/trade-returns/new',
  overview: 'tradeReturns',
  savedKind: 'TRADE_RETURN',
  title: 'Trade returns',
  one: 'trade return',
  many: 'trade returns',
  statuses: TRADE_RETURN_STATUSES,
  filters: ['companyId', 'company'],
} as const;
export type Kind = typeof REPAIRS | typeof TRADE_RETURNS;
export const KINDS = [REPAIRS, TRADE_RETURNS] as const;
/** By the name that the service gives them. */
export const KIND_OF = { OFFLINE_REPAIR: REPAIRS, TRADE_RETURN: TRADE_RETURNS } as const;

/** One line where it was erased. */
export const addressLines = ({ shippingAddress }: Pick<AdminTradeReturn, 'shippingAddress'>): string[] => {
  const { street, suburb, state, postcode } = shippingAddress;
  return [...new Set([street, suburb === street ? street : `${suburb} ${state} ${postcode}`])];
};

export const countOf = (count: number, { one, many }: Kind): string =>
  `${count.toLocaleString()} ${count === 1 ? one : many}`;

const STATUS_LABELS: Record<OfflineRepairStatus | TradeReturnStatus, { label: string; color: string }> = {
  COUNTER_SWAPPED: { label: 'Counter swapped', color: 'grape' },
  OFFLINE_DIAGNOSTICS: { label: 'In diagnostics', color: 'blue' },
  OFFLINE_REPAIR: { label: 'In repair', color: 'orange' },
  OFFLINE_RESOLVED: { label: 'Resolved', color: 'teal' },
  OFFLINE_CLOSED: { label: 'Closed', color: 'gray' },
  TRADE_SUBMITTED: { label: 'Submitted', color: 'blue' },
  TRADE_APPROVED: { label: 'Approved', color: 'cyan' },
  TRADE_REJECTED: { label: 'Rejected', color: 'red' },
  TRADE_RECEIVED: { label: 'Received', color: 'orange' },
  TRADE_CREDIT_REQUESTED: { label: 'Credit requested', color: 'grape' },
  TRADE_RESOLVED: { label: 'Resolved', color: 'teal' },
};

/** A newer service may have statuses that this page does not know; they are shown as they are. */
export const describeStatus = (status: string): { label: string; color: string } =>
  STATUS_LABELS[status as keyof typeof STATUS_LABELS] ?? { label: status, color: 'gray' };

export const DISPOSITION_LABELS: Record<
  (typeof DISPOSITIONS)[number],
  { label: string; description: string }
> = {
  RESTOCK_MASTER: { label: 'Restock at master', description: 'Back into stock at the master location' },
  RESTOCK_CHILD: { label: 'Restock at child', description: 'Back into stock at a child location' },
  WRITE_OFF: { label: 'Write off', description: 'Leaves the stock for good' },
  RETURN_TO_SUPPLIER: { label: 'Return to supplier', description: 'Goes back to where it was bought' },
};
export const dispositionLabel = (disposition: string): string =>
  DISPOSITION_LABELS[disposition as keyof typeof DISPOSITION_LABELS]?.label ?? disposition;

type MoveLabels = { label: string; done: string };
export const REPAIR_MOVE_LABELS: Record<OfflineRepairAction, MoveLabels> = {
  tracking: { label: 'Add tracking', done: 'Tracking saved' },
  'begin-diagnostics': { label: 'Begin diagnostics', done: 'Diagnostics begun' },
  'begin-repair': { label: 'Begin repair', done: 'Repair begun' },
  resolve: { label: 'Resolve', done: 'Resolved' },
  close: { label: 'Close', done: 'Closed' },
};
export const TRADE_MOVE_LABELS: Record<TradeReturnAction, MoveLabels> = {
  approve: { label: 'Approve', done: 'Approved' },
  reject: { label: 'Reject', done: 'Rejected' },
  receive: { label: 'Receive', done: 'Received' },
  'request-credit': { label: 'Request credit', done: 'Credit requested' },
  resolve: { label: 'Resolve', done: 'Resolved' },
};

export const CORRECTED_LABELS = {
  companyName: 'Company',
  customerName: 'Customer',
  customerEmail: 'E-mail',
  customerPhone: 'Phone',
  serialNumber: 'Serial number',
} as const;

export const ORIGIN_LABELS = { API: 'Created by a program', STAFF: 'Created by staff' } as const;
