import type { Db } from './database.ts';

const ROW = 'ready-check';

/** Writes for real: a database that only answers reads, or whose disk is full, is not ready. */
export const noteReady = async (db: Db, nowMs: number): Promise<void> => {
  const value = String(nowMs);
  await db
    .insertInto('installation')
    .values({ name: ROW, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
};
