import { type CompiledQuery, type Kysely, sql } from 'kysely';
import { factInsertion } from '../installation-facts.ts';
import type { Tables } from '../schema.ts';

/**
 * Statements for one transaction that fail if writing requests would fail. Rewriting a row needs no new page, so it would not detect a
 * full disk; rows above the memory limit go into a temporary file beside the database's files. It has 512 kB,
 * which is also how much a busy table grows by.
 */
export const writeCheck = (db: Kysely<Tables>, atMs: number): CompiledQuery[] => [
  // This is the minimum of PostgreSQL, in kB.
  sql`set local work_mem = 64`.compile(db),
  sql`select count(*) from unnest(array_fill(repeat('-', 16000), array[32]))`.compile(db),
  factInsertion(db, 'ready-check', String(atMs)).compile(),
];
