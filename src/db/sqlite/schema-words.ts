import { sql } from 'kysely';
import type { SchemaWords } from '../schema-change.ts';

const jsonField: SchemaWords['jsonField'] = async (_db, column, field) => {
  const whole = sql.ref(column);
  return sql<
    string | null
  >`case when json_valid(${whole}) then json_extract(${whole}, ${sql.lit(`$.${field}`)}) end`;
};

export const SCHEMA_WORDS = { id: 'text', unlogged: false, trigrams: false, jsonField } as const;
