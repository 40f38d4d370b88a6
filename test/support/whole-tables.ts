import { type Kysely, sql, type TableMetadata } from 'kysely';
import type { Tables } from '../../src/db/tables.ts';
import { ENGINE } from './harness.ts';

/** Every table of the database, but for the months that some are kept in. */
export const wholeTables = async (
  db: Kysely<Tables>,
  engine: typeof ENGINE = ENGINE,
): Promise<TableMetadata[]> => {
  const tables = (await db.introspection.getTables()).filter(({ isView }) => !isView);
  if (engine === 'sqlite') return tables;
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relispartition`.execute(db);
  const parts = new Set(rows.map(({ name }) => name));
  return tables.filter(({ name }) => !parts.has(name));
};
