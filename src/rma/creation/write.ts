import type { Insertion, Write } from '../../db/database.ts';
import { keepCounters } from '../../shops/counters.ts';
import type { Reachable } from '../../webhooks/recipient.ts';
import { remember } from '../idempotency.ts';
import { type Receivers, record } from '../record.ts';
import type { RmaTableName } from '../visibility.ts';
import type { Decision } from './decide.ts';

const KINDS: RmaTableName[] = ['offline_repairs', 'trade_returns'];

/** Everything a batch writes, in one statement with its commit, and who has an event to receive. */
export const writesOf = (
  { rows, changes, answers, counters }: Decision,
  reachable: Reachable[],
): { writes: Write[]; receivers: Receivers } => {
  if (changes.length === 0) return { writes: [], receivers: new Map() };
  const { writes, receivers } = record(changes, reachable);
  const insertions = KINDS.map((table) => ({ table, rows: rows[table] }) as Insertion);
  return {
    writes: [
      ...insertions.filter((insertion) => insertion.rows.length > 0),
      ...writes,
      keepCounters([...counters.values()]),
      ...remember(answers),
    ],
    receivers,
  };
};
