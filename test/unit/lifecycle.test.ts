import { describe, expect, it } from 'vitest';
import {
  DEFAULT_START_STATUS,
  DISPOSITIONS,
  ENDED_STATUSES,
  MOVE_ENTRIES,
  OFFLINE_REPAIR_MOVES,
  OFFLINE_REPAIR_STATUSES,
  openTradeMoves,
  START_STATUSES,
  TIMELINE_TYPES,
  TRADE_RETURN_MOVES,
  TRADE_RETURN_START,
  TRADE_RETURN_STATUSES,
} from '../../contract/lifecycle.ts';

// What programs were promised: a word that changes here breaks somebody's till.

describe('repairs', () => {
  it('have these statuses, begin in two of them, and end closed', () => {
    expect(OFFLINE_REPAIR_STATUSES).toEqual([
      'COUNTER_SWAPPED',
      'OFFLINE_DIAGNOSTICS',
      'OFFLINE_REPAIR',
      'OFFLINE_RESOLVED',
      'OFFLINE_CLOSED',
    ]);
    expect(START_STATUSES).toEqual(['COUNTER_SWAPPED', 'OFFLINE_DIAGNOSTICS']);
    expect(DEFAULT_START_STATUS).toBe('OFFLINE_DIAGNOSTICS');
    expect(ENDED_STATUSES.offline_repairs).toEqual(['OFFLINE_CLOSED']);
  });

  it('are put to one of four uses', () => {
    expect(DISPOSITIONS).toEqual(['RESTOCK_MASTER', 'RESTOCK_CHILD', 'WRITE_OFF', 'RETURN_TO_SUPPLIER']);
  });

  it.each([
    ['tracking', null, 'TRACKING_UPLOADED', 'tracking_uploaded'],
    ['begin-diagnostics', 'OFFLINE_DIAGNOSTICS', 'STATUS_CHANGED', 'status_changed'],
    ['begin-repair', 'OFFLINE_REPAIR', 'STATUS_CHANGED', 'status_changed'],
    ['resolve', 'OFFLINE_RESOLVED', 'DISPOSITION_SET', 'disposition_set'],
    ['close', 'OFFLINE_CLOSED', 'CLOSED', 'closed'],
  ] as const)('by %s become %s, are noted as %s and told of as %s', (move, to, entry, event) => {
    expect(OFFLINE_REPAIR_MOVES[move]).toEqual({ to, entry, event: `offline_repair.${event}` });
  });
});

describe('trade returns', () => {
  it('have these statuses, begin submitted, and end rejected or resolved', () => {
    expect(TRADE_RETURN_STATUSES).toEqual([
      'TRADE_SUBMITTED',
      'TRADE_APPROVED',
      'TRADE_REJECTED',
      'TRADE_RECEIVED',
      'TRADE_CREDIT_REQUESTED',
      'TRADE_RESOLVED',
    ]);
    expect(TRADE_RETURN_START).toBe('TRADE_SUBMITTED');
    expect(ENDED_STATUSES.trade_returns).toEqual(['TRADE_REJECTED', 'TRADE_RESOLVED']);
  });

  it.each([
    ['approve', 'TRADE_APPROVED', 'STATUS_CHANGED', 'status_changed'],
    ['reject', 'TRADE_REJECTED', 'STATUS_CHANGED', 'status_changed'],
    ['receive', 'TRADE_RECEIVED', 'STATUS_CHANGED', 'status_changed'],
    ['request-credit', 'TRADE_CREDIT_REQUESTED', 'CREDIT_REQUESTED', 'credit_requested'],
    ['resolve', 'TRADE_RESOLVED', 'RESOLVED', 'resolved'],
  ] as const)('by %s become %s, are noted as %s and told of as %s', (move, to, entry, event) => {
    expect(TRADE_RETURN_MOVES[move]).toMatchObject({ to, entry, event: `trade_return.${event}` });
  });

  it.each([
    ['TRADE_SUBMITTED', ['approve', 'reject']],
    ['TRADE_APPROVED', ['reject', 'receive']],
    ['TRADE_REJECTED', []],
    ['TRADE_RECEIVED', ['request-credit', 'resolve']],
    ['TRADE_CREDIT_REQUESTED', ['resolve']],
    ['TRADE_RESOLVED', []],
  ] as const)('that are %s may be moved by %j', (status, moves) => {
    expect(openTradeMoves(status)).toEqual(moves);
  });
});

it('the timeline knows ten kinds of entries, six of which are moves', () => {
  const moves = [
    'TRACKING_UPLOADED',
    'STATUS_CHANGED',
    'DISPOSITION_SET',
    'CLOSED',
    'CREDIT_REQUESTED',
    'RESOLVED',
  ];
  expect(MOVE_ENTRIES).toEqual(moves);
  expect(TIMELINE_TYPES).toEqual(['CREATED', ...moves, 'NOTE_ADDED', 'ASSIGNED', 'CORRECTED']);
});
