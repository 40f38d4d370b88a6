import { sql } from 'kysely';
import type { SchemaChange } from '../schema-change.ts';

/** Links with which people choose a password, the second factor, and when somebody last signed in. */
export const access: SchemaChange = async (db, { id }) => {
  const { schema } = db;
  await schema.alterTable('users').addColumn('last_sign_in_at', 'bigint').execute();
  await schema.alterTable('users').addColumn('factor_secret', 'text').execute();
  await schema.alterTable('users').addColumn('factor_since', 'bigint').execute();
  await schema
    .alterTable('users')
    .addColumn('factor_step', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute();
  await sql`update users set last_sign_in_at =
    (select max(seen_at) from sign_in_addresses where sign_in_addresses.user_id = users.id)`.execute(db);

  await schema
    .createTable('access_links')
    .addColumn('token_hash', 'text', (column) => column.primaryKey().notNull())
    .addColumn('user_id', id, (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('access_links_user').on('access_links').column('user_id').execute();
  await schema.createIndex('access_links_expiry').on('access_links').column('expires_at').execute();

  await schema
    .createTable('recovery_codes')
    .addColumn('user_id', id, (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('code_hash', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('recovery_codes_pkey', ['user_id', 'code_hash'])
    .execute();

  await schema
    .alterTable('shops')
    .addColumn('factor_required', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
};
