import { sql } from 'kysely';
import type { SchemaChange } from '../migrate.ts';

// Existing rows are not rewritten: a line without figures counts as received in full once the status says so, and the previous
// release, which may run beside this one, goes on writing such rows. An update would hold the lock of `alter table`, which stops
// every reader, for as long as it renews all indexes of the table.
export const receipts: SchemaChange = async (db) => {
  for (const column of ['receipts', 'credit_amount'])
    await sql`alter table trade_returns add column ${sql.id(column)} text`.execute(db);
};
