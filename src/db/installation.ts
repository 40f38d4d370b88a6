import type { Db } from './database.ts';

/** When something was last true of the installation, for readiness and for `doctor`. */
type Fact = 'ready-check' | 'untrusted-proxy';

export const noteFact = async (db: Db, name: Fact, nowMs: number): Promise<void> => {
  const value = String(nowMs);
  await db
    .insertInto('installation')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
};

/** null: never. */
export const factNoted = async (db: Db, name: Fact): Promise<number | null> => {
  const row = await db.selectFrom('installation').select('value').where('name', '=', name).executeTakeFirst();
  return row ? Number(row.value) : null;
};
