import { RETURN_TABLES, type ReturnTable } from '../../../contract/kinds.ts';
import type { Insertion, Update, Write } from '../../db/types.ts';
import { saveCounters } from '../../shops/counters.ts';
import { storeResponses } from '../idempotency.ts';
import { saveTotals } from '../totals.ts';
import type { BatchDecider } from './decide.ts';

const returnsOf = (kind: ReturnTable, { changing }: BatchDecider): (Insertion | Update)[] => {
  const own = [...changing.values()].filter((each) => each.kind === kind);
  const inserted = own.filter(({ isNew }) => isNew).map(({ set }) => set);
  const updated = own.filter(({ isNew }) => !isNew).map(({ row, set }) => ({ id: row.id, set, after: row }));
  return [{ table: kind, rows: inserted } as Insertion, { updated: kind, rows: updated }];
};

/** All writes of a batch, which are one statement. Their order is always the same, so that few statements are prepared. */
export const writesOf = (decider: BatchDecider): Write[] => {
  const { entries, events, deliveries, totals, audit, responses, counters } = decider;
  if (entries.length === 0) return [];
  const rows: (Insertion | Update)[] = [
    ...RETURN_TABLES.flatMap((table) => returnsOf(table, decider)),
    { table: 'timeline', rows: entries },
    { table: 'events', rows: events },
    { table: 'webhook_deliveries', rows: deliveries },
    { table: 'audit_log', rows: audit },
  ];
  return [
    ...rows.filter((each) => each.rows.length > 0),
    ...saveTotals(totals),
    saveCounters([...counters.values()]),
    ...(responses.length > 0 ? [storeResponses(responses)] : []),
  ];
};
