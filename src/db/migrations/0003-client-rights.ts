import { sql } from 'kysely';
import type { SchemaChange } from '../migrate.ts';

/** What a client may do, until when, which events it is sent, and whether its receiver fails. */
export const clientRights: SchemaChange = async (db, { id }) => {
  for (const column of ["rights text not null default 'write'", 'expires_at bigint', 'events text'])
    await sql.raw(`alter table api_clients add column ${column}`).execute(db);
  await sql
    .raw(
      `create table webhook_failures (
        client_id ${id} primary key not null, since bigint not null, failed_attempts bigint not null,
        dropped_deliveries bigint not null, last_error text not null, notified_at bigint
      )`,
    )
    .execute(db);
};
