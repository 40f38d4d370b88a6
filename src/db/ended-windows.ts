import type { Db } from './database.ts';

/** Small rows without texts; engines that count in memory have none. */
const AT_ONCE = 5_000;
/** Longer than the clocks of two processes are apart. */
const SLACK_MS = 10_000;

/** Forgets addresses whose window has ended. A row that a call counts in at this moment is left to that call. */
export const forgetEndedWindows = async (db: Db, nowMs: number): Promise<boolean> => {
  const { numDeletedRows } = await db
    .deleteFrom('rate_limits')
    .where('key', 'in', (eb) =>
      eb
        .selectFrom('rate_limits')
        .select('key')
        .where('expire', '<', nowMs - SLACK_MS)
        .limit(AT_ONCE)
        .forUpdate()
        .skipLocked(),
    )
    .executeTakeFirstOrThrow();
  return numDeletedRows === BigInt(AT_ONCE);
};
