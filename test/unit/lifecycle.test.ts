import { expect, it } from 'vitest';
import {
  DISPOSITIONS,
  ENDED_STATUSES,
  OFFLINE_REPAIR_STATUSES,
  TIMELINE_TYPES,
  TRADE_RETURN_STATUSES,
} from '../../contract/lifecycle.ts';

// Words that programs were promised. Which moves lead where is asserted in test/api/actions.test.ts and trade-moves.test.ts.

it.each<[what: string, words: readonly string[], promised: string]>([
  [
    'statuses of repairs',
    OFFLINE_REPAIR_STATUSES,
    'COUNTER_SWAPPED OFFLINE_DIAGNOSTICS OFFLINE_REPAIR OFFLINE_RESOLVED OFFLINE_CLOSED',
  ],
  [
    'statuses of trade returns',
    TRADE_RETURN_STATUSES,
    'TRADE_SUBMITTED TRADE_APPROVED TRADE_REJECTED TRADE_RECEIVED TRADE_CREDIT_REQUESTED TRADE_RESOLVED',
  ],
  ['ends', Object.values(ENDED_STATUSES).flat(), 'OFFLINE_CLOSED TRADE_REJECTED TRADE_RESOLVED'],
  ['dispositions', DISPOSITIONS, 'RESTOCK_MASTER RESTOCK_CHILD WRITE_OFF RETURN_TO_SUPPLIER'],
  [
    'entries of the timeline',
    TIMELINE_TYPES,
    'CREATED TRACKING_UPLOADED STATUS_CHANGED DISPOSITION_SET CLOSED CREDIT_REQUESTED RESOLVED ITEMS_RECEIVED NOTE_ADDED ASSIGNED CORRECTED WAITING_SET WAITING_CLEARED ERASED',
  ],
])('the %s have these names', (_what, words, promised) => {
  expect(words).toEqual(promised.split(' '));
});
