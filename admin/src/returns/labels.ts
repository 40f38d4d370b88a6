import type {
  DISPOSITIONS,
  OfflineRepairAction,
  OfflineRepairStatus,
  TradeReturnAction,
  TradeReturnStatus,
} from '../../../contract/lifecycle.ts';

// What the screen calls statuses, dispositions and moves.

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

interface MoveLabels {
  label: string;
  done: string;
}
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
