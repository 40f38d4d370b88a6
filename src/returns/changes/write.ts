import type { ReturnTable } from '../../../contract/kinds.ts';
import { RETURN_TABLES } from '../../../contract/kinds.ts';
import type { Insertion, Update, Write } from '../../db/types.ts';
import { saveCounters } from '../../shops/counters.ts';
import { saveAnswers } from '../idempotency.ts';
import { saveTotals } from '../totals.ts';
import type { Decision } from './decide.ts';

const returnsOf = (kind: ReturnTable, { changing }: Decision): (Insertion | Update)[] => {
  const own = [...changing.values()].filter((each) => each.kind === kind);
  const inserted = own.filter(({ isNew }) => isNew).map(({ set }) => set);
  const updated = own.filter(({ isNew }) => !isNew).map(({ row, set }) => ({ id: row.id, set, after: row }));
  return [{ table: kind, rows: inserted } as Insertion, { updated: kind, rows: updated }];
};

/** Everything that a batch writes, in one statement with its commit. The order is always the same: few texts are prepared. */
export const writesOf = (decision: Decision): Write[] => {
  const { entries, events, deliveries, totals, audit, answers, counters } = decision;
  if (entries.length === 0) return [];
  const rows: (Insertion | Update)[] = [
    ...RETURN_TABLES.flatMap((table) => returnsOf(table, decision)),
    { table: 'timeline', rows: entries },
    { table: 'events', rows: events },
    { table: 'webhook_deliveries', rows: deliveries },
    { table: 'audit_log', rows: audit },
  ];
  return [
    ...rows.filter((each) => each.rows.length > 0),
    ...saveTotals(totals),
    saveCounters([...counters.values()]),
    ...(answers.length > 0 ? [saveAnswers(answers)] : []),
  ];
};
