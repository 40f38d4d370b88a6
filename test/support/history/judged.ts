import { expect } from 'vitest';
import type { Db } from '../../../src/db/database.ts';
import { until } from '../until.ts';
import { check } from './check.ts';
import type { History } from './history.ts';
import { type Kept, readKept } from './kept.ts';

export const nothingWaits = async (db: Db, withinMs?: number): Promise<void> => {
  await until(
    'nothing waits any more',
    async () => {
      const waiting = await db
        .selectFrom('webhook_deliveries')
        .select('id')
        .where('status', '=', 'PENDING')
        .limit(1)
        .execute();
      return waiting.length === 0;
    },
    withinMs,
  );
};

/** A run that went wrong has thousands of faults; the first ones tell enough. */
const SHOWN = 20;

/**
 * Fails where the history has a fault. Call it when nothing is written any more and no delivery waits (`nothingWaits`); returns what
 * the database holds.
 */
export const judged = async (history: History, db: Db): Promise<Kept> => {
  const kept = await readKept(db);
  expect(check(history, kept).slice(0, SHOWN)).toEqual([]);
  return kept;
};
