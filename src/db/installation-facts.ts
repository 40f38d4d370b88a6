import type { Db } from './types.ts';

/** What is kept about the installation as a whole, a row each. A value that is a time is in milliseconds. */
type Fact =
  /** Where the service was at its last start: commands may have other settings. */
  | 'address'
  /** Stands in the names of scheduled backups; a restored installation gets another. */
  | 'installation-id'
  /** When readiness was last asked for. */
  | 'ready-check'
  /** When a backup was last restored, and of when it was: JSON (`cli/backup.ts`). */
  | 'restored'
  /** When a backup was restored without a list of erasures, until one is applied; for `doctor`. */
  | 'restored-without-erasures'
  /** The daily backup: which one was claimed, and what became of it (`backup/schedule.ts`). */
  | 'scheduled-backup'
  /** A sealed text: it opens with the keys that the data was sealed with. */
  | 'secret-key-check'
  /** The hash of the one-time token that creates the first shop, and when it ends. */
  | 'set-up'
  /** When a request last came with `X-Forwarded-For` while no proxy was trusted, for `doctor`. */
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

/** Only where it still has the value that was read before; null: where it has none. Says whether it did. */
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
      // Nothing equals null: then a row that is there stays.
      conflict.column('name').doUpdateSet({ value }).where('installation.value', '=', before),
    )
    .executeTakeFirstOrThrow();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
};
