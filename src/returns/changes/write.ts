import type { Insertion, Write } from '../../db/database.ts';
import { saveCounters } from '../../shops/counters.ts';
import { saveAnswers } from '../idempotency.ts';
import type { RmaTableName } from '../store.ts';
import { saveTotals } from '../totals.ts';
import { type Decision, KINDS, searchTextFor } from './decide.ts';

const LONG_COLUMNS = ['faulty_item', 'search_text', 'receipts'];

const returnsOf = (kind: RmaTableName, decision: Decision): Write[] => {
  const own = [...decision.changing.values()].filter((each) => each.kind === kind);
  const inserted = own
    .filter(({ set }) => set === null)
    .map((each) => ({ ...each.row, ...searchTextFor(each) }));
  const updated = own.flatMap((each) =>
    each.set === null
      ? []
      : { id: each.row.id, set: { ...each.set, ...searchTextFor(each) }, after: each.row },
  );
  const columns = KINDS[kind].mutable;
  return [
    ...(inserted.length > 0 ? [{ table: kind, rows: inserted } as Insertion] : []),
    ...(updated.length > 0 ? [{ updated: kind, columns, longColumns: LONG_COLUMNS, rows: updated }] : []),
  ];
};

/** Everything that a batch writes, in one statement with its commit. The order is always the same: few texts are prepared. */
export const writesOf = (decision: Decision): Write[] => {
  const { entries, events, deliveries, totals, audit, answers, counters } = decision;
  if (entries.length === 0) return [];
  const insertions: Insertion[] = [
    { table: 'timeline', rows: entries },
    { table: 'events', rows: events },
    { table: 'webhook_deliveries', rows: deliveries },
    { table: 'audit_log', rows: audit },
  ];
  return [
    ...returnsOf('offline_repairs', decision),
    ...returnsOf('trade_returns', decision),
    ...insertions.filter(({ rows }) => rows.length > 0),
    ...saveTotals(totals),
    saveCounters([...counters.values()]),
    ...(answers.length > 0 ? [saveAnswers(answers)] : []),
  ];
};
