import { sql } from 'kysely';
import type { SchemaChange } from '../schema-change.ts';

/** As much of the names as `rma/search-text.ts` takes. */
const NAMES_LENGTH = 2_000;

/** Searches find returns by the names of their products. */
export const productNames: SchemaChange = async (db, { jsonField, jsonFields }) => {
  const names = {
    offline_repairs: await jsonField(db, 'faulty_item', 'productName'),
    trade_returns: await jsonFields(db, 'items', 'productName'),
  };
  for (const [kind, name] of Object.entries(names))
    await sql`update ${sql.table(kind)}
      set search_text = search_text || lower(coalesce(' ' || substr(${name}, 1, ${sql.lit(NAMES_LENGTH)}), ''))`.execute(
      db,
    );
};
