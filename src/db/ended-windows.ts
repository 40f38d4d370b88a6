import { sql } from 'kysely';
import type { Database } from './database.ts';

/** Small rows without texts; engines that count in memory have none. */
const AT_ONCE = 5_000;
/** Longer than the clocks of two processes are apart. */
const SLACK_MS = 10_000;

/** Forgets addresses whose window has ended. A row that a call counts in at this moment is left to that call. */
export const forgetEndedWindows = async (
  { withoutFsync: db, among }: Pick<Database, 'withoutFsync' | 'among'>,
  nowMs: number,
): Promise<boolean> => {
  const ended = db
    .selectFrom('rate_limits')
    .select('key')
    .where('expire', '<', nowMs - SLACK_MS)
    .limit(AT_ONCE)
    .forUpdate()
    .skipLocked();
  const { numDeletedRows } = await db
    .deleteFrom('rate_limits')
    .where(sql<boolean>`key ${among(ended)}`)
    .executeTakeFirstOrThrow();
  return numDeletedRows === BigInt(AT_ONCE);
};
