import { sql } from 'kysely';
import type { SchemaChange } from '../schema-change.ts';

/**
 * Searches find returns by the names of their products. This only notes that the texts of earlier ones are to be renewed: to do it
 * here would hold up the start, and lock every row until its end.
 */
export const productNames: SchemaChange = async (db) => {
  const note = JSON.stringify({ offline_repairs: '', trade_returns: '' });
  await sql`
    insert into installation (name, value)
    select 'search-texts-to-renew', ${sql.lit(note)}
    where exists (select 1 from offline_repairs) or exists (select 1 from trade_returns)
    on conflict (name) do update set value = excluded.value`.execute(db);
};
