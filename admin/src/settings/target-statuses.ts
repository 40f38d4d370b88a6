import type { TargetDays } from '../../../contract/admin-work.ts';

type Status = TargetDays['targets'][number]['status'];

/** Where work waits, as a sentence goes on after "So many days": by kind, in the order of the work. */
export const TARGET_STATUSES: readonly { kind: string; status: Status; label: string }[] = [
  { kind: 'Offline repairs', status: 'COUNTER_SWAPPED', label: 'after a swap at the counter' },
  { kind: 'Offline repairs', status: 'OFFLINE_DIAGNOSTICS', label: 'in diagnostics' },
  { kind: 'Offline repairs', status: 'OFFLINE_REPAIR', label: 'in repair' },
  { kind: 'Offline repairs', status: 'OFFLINE_RESOLVED', label: 'resolved but not closed' },
  { kind: 'Trade returns', status: 'TRADE_SUBMITTED', label: 'submitted, waiting for an answer' },
  { kind: 'Trade returns', status: 'TRADE_APPROVED', label: 'approved, goods on their way' },
  { kind: 'Trade returns', status: 'TRADE_RECEIVED', label: 'received, to be checked' },
  { kind: 'Trade returns', status: 'TRADE_CREDIT_REQUESTED', label: 'credit requested, not yet resolved' },
];
