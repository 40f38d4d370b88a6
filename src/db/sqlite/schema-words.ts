import { sql } from 'kysely';
import type { SchemaWords } from '../schema-change.ts';

const jsonField: SchemaWords['jsonField'] = async (_db, column, field) => {
  const whole = sql.ref(column);
  return sql<
    string | null
  >`case when json_valid(${whole}) then json_extract(${whole}, ${sql.lit(`$.${field}`)}) end`;
};

const jsonFields: SchemaWords['jsonField'] = async (_db, column, field) => {
  const whole = sql.ref(column);
  return sql<string | null>`case when json_valid(${whole}) then (select group_concat(text, ' ') from (
    select distinct json_extract(${whole}, fullkey || ${sql.lit(`.${field}`)}) as text from json_each(${whole}))) end`;
};

export const SCHEMA_WORDS = { id: 'text', unlogged: false, trigrams: false, jsonField, jsonFields } as const;
