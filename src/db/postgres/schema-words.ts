import { sql } from 'kysely';
import type { SchemaWords } from '../schema-change.ts';

/** A cast would fail the whole statement at the first damaged row. */
const jsonField: SchemaWords['jsonField'] = async (db, column, field) => {
  await sql`
    create or replace function pg_temp.json_field(whole text, field text) returns text language plpgsql as $$
    begin
      return whole::json ->> field;
    exception when others then
      return null;
    end $$`.execute(db);
  return sql<string | null>`pg_temp.json_field(${sql.ref(column)}, ${sql.lit(field)})`;
};

export const SCHEMA_WORDS = { id: 'uuid', unlogged: true, trigrams: true, jsonField } as const;
