import type { Db } from './types.ts';

/** Facts about the whole installation, one row each. Times are in milliseconds. */
type Fact =
  /** The service's address at its last start, since commands may have other settings. */
  | 'address'
  /** An id in the names of scheduled backups. A restored installation gets a new one. */
  | 'installation-id'
  | 'ready-check'
  /** When a backup was last restored, and the backup's time, as JSON (`cli/backup.ts`). */
  | 'restored'
  /** When a backup was restored without a list of erasures, for `doctor`. It is deleted when a list is applied. */
  | 'restored-without-erasures'
  /** The claim and the result of the daily backup (`backup/schedule.ts`). */
  | 'scheduled-backup'
  /** A sealed text, which only opens with the keys of the data. */
  | 'secret-key-check'
  /** The hash and the end of the one-time token for the first shop. */
  | 'set-up'
  /** When a request last had `X-Forwarded-For` although no proxy is trusted, for `doctor`. */
  | 'untrusted-proxy';

export const factInsertion = (db: Db, name: Fact, value: string) =>
  db
    .insertInto('installation')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }));

export const saveFact = async (db: Db, name: Fact, value: string): Promise<void> => {
  await factInsertion(db, name, value).execute();
};

export const findFact = async (db: Db, name: Fact): Promise<string | null> => {
  const row = await db.selectFrom('installation').select('value').where('name', '=', name).executeTakeFirst();
  return row?.value ?? null;
};

/** Writes a fact if it still has the value that was read before (null: none), and returns whether it did. */
export const replaceFact = async (
  db: Db,
  name: Fact,
  before: string | null,
  value: string,
): Promise<boolean> => {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('installation')
    .values({ name, value })
    .onConflict((conflict) =>
      // If `before` is null, nothing equals it, and an existing row stays.
      conflict.column('name').doUpdateSet({ value }).where('installation.value', '=', before),
    )
    .executeTakeFirstOrThrow();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
};
