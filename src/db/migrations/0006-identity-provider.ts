import { sql } from 'kysely';
import type { SchemaChange } from '../migrate.ts';

const COLUMNS = [
  'users add column provider_issuer text',
  'users add column provider_subject text',
  'sessions add column through_provider bigint not null default 0',
];

/** Who a person is at the identity provider (OIDC), and which sessions were opened there. No row is rewritten. */
export const identityProvider: SchemaChange = async (db) => {
  for (const column of COLUMNS) await sql.raw(`alter table ${column}`).execute(db);
  // Both are null for people who never signed in there, and nulls differ from each other.
  await sql`create unique index users_provider on users (provider_issuer, provider_subject)`.execute(db);
};
