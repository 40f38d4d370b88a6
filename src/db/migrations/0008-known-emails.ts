import { sql } from 'kysely';
import type { SchemaChange } from '../migrate.ts';

const STATEMENTS = [
  'alter table users add column email_by_holder bigint not null default 0',
  'alter table access_links add column confirms_email bigint not null default 0',
  // People who changed their own email before this release; the audit log knows of those of its time.
  `update users set email_by_holder = 1 where id in (
    select subject_id from audit_log
    where actor_id is not null and actor_id = subject_id and action = 'USER_CHANGED' and data like '%"email":%'
  )`,
  // People who joined through the identity provider before this release keep no password either: this hash is of none (NO_SALT).
  `update users set password_exposed_at = null,
    password_hash = '$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
    where provider_subject is not null`,
];

/** How the address of an account is known: the identity provider joins no account by an address that only its holder gave. */
export const knownEmails: SchemaChange = async (db) => {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
};
