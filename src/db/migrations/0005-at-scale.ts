import { type Kysely, sql } from 'kysely';
import type { Notice, SchemaChange } from '../schema-change.ts';

const KINDS = ['offline_repairs', 'trade_returns'];

/** For shops with a million RMAs: totals that are kept instead of counted, and an index to search with. */
export const atScale: SchemaChange = async (db, { id, trigrams, notice }) => {
  await db.schema
    .createTable('rma_totals')
    .addColumn('shop_id', id, (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('origin', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('count', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('rma_totals_pkey', ['shop_id', 'kind', 'origin', 'status'])
    .execute();
  for (const kind of KINDS)
    await sql`
      insert into rma_totals (shop_id, kind, origin, status, count)
      select shop_id, ${sql.lit(kind)}, case when client_id is null then 'STAFF' else 'API' end as origin, status, count(*)
      from ${sql.table(kind)} group by shop_id, origin, status`.execute(db);

  if (trigrams) return addTrigrams(db, notice);
  // A scan of this index alone passes a million texts in about a tenth of a second.
  for (const kind of KINDS)
    await db.schema
      .createIndex(`${kind}_search`)
      .on(kind)
      .columns(['shop_id', 'number', 'search_text'])
      .execute();
};

/** The user may not create it, or the server does not have it; anything else fails the migration (decision 107). */
const CANNOT_BE_HAD = new Set(['42501', '0A000', '58P01', '42704']);

/** Where the extension cannot be had, searches still find everything, by reading every text of the shop. */
const addTrigrams = async (db: Kysely<unknown>, notice: Notice): Promise<void> => {
  await sql`savepoint before_trigrams`.execute(db);
  try {
    await sql`create extension if not exists pg_trgm`.execute(db);
    for (const kind of KINDS)
      await sql`create index ${sql.id(`${kind}_search`)} on ${sql.table(kind)} using gin (search_text gin_trgm_ops)`.execute(
        db,
      );
  } catch (error) {
    const code = String((error as { code?: unknown }).code);
    if (!CANNOT_BE_HAD.has(code)) throw error;
    await sql`rollback to savepoint before_trigrams`.execute(db);
    notice(
      `the extension pg_trgm cannot be had (${code}): searches work without it, and take longer the more returns a shop has`,
    );
  }
};
