import { sql } from 'kysely';
import type { SchemaChange } from '../migrate.ts';

// Existing rows are not rewritten: a line without figures counts as received in full once the status says so, and the previous
// release, which may run beside this one, goes on writing such rows. An update would renew all indexes of the table (33 s for 50,000
// returns on a busy PostgreSQL), and until its commit the lock of `alter table` would stop every reader.
export const receipts: SchemaChange = async (db) => {
  for (const column of ['receipts', 'credit_amount'])
    await sql`alter table trade_returns add column ${sql.id(column)} text`.execute(db);
};
