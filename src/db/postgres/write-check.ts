import { type CompiledQuery, type Kysely, sql } from 'kysely';
import { factInsertion } from '../installation-facts.ts';
import type { Tables } from '../schema.ts';

/**
 * To run in one transaction: they fail where requests that write would. Rewriting a row needs no new page, so a full disk would not
 * show; rows that do not fit into the memory that they may use go into a temporary file beside the database's own files. It has 512 kB,
 * which is also how much a busy table grows by.
 */
export const writeCheck = (db: Kysely<Tables>, atMs: number): CompiledQuery[] => [
  // In kB, the least that PostgreSQL takes.
  sql`set local work_mem = 64`.compile(db),
  sql`select count(*) from unnest(array_fill(repeat('-', 16000), array[32]))`.compile(db),
  factInsertion(db, 'ready-check', String(atMs)).compile(),
];
