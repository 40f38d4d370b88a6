import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { Db } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open.ts';
import type { Tables } from '../../src/db/schema.ts';
import { readConfig } from '../../src/service/config.ts';
import type { Env } from './process.ts';
import { UNOBSERVED } from './unobserved.ts';

const INT8 = 20;

/**
 * A connection of a test's own to a database, to fill it or to look into it. The service's time limits are for its callers: on a
 * busy machine they would end what a test sets up.
 */
export const openWithoutLimits = (env: Env): { db: Db; close(): Promise<void> } => {
  const url = env['DATABASE_URL'];
  // Of several hosts the service finds the one that takes writes.
  if (!url || url.includes(',')) return openDatabase(readConfig(env), UNOBSERVED);
  const types = {
    getTypeParser: ((oid: number, format?: 'text') =>
      oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
  };
  const pool = new pg.Pool({ connectionString: url, max: 4, types });
  // Tests end servers under their connections.
  pool.on('error', () => {});
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return { db, close: () => db.destroy() };
};
