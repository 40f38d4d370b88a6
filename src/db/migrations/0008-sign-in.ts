import type { SchemaChange } from '../schema-change.ts';

/** Wrong passwords, and from where people signed in before. */
export const signIn: SchemaChange = async ({ schema }, { id }) => {
  await schema
    .createTable('sign_in_failures')
    .addColumn('key', 'text', (column) => column.primaryKey().notNull())
    .addColumn('failures', 'integer', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('sign_in_failures_expiry').on('sign_in_failures').column('expires_at').execute();

  await schema
    .createTable('sign_in_addresses')
    .addColumn('user_id', id, (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('address', 'text', (column) => column.notNull())
    .addColumn('seen_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('sign_in_addresses_pkey', ['user_id', 'address'])
    .execute();
  await schema.createIndex('sign_in_addresses_age').on('sign_in_addresses').column('seen_at').execute();

  await schema
    .alterTable('sessions')
    .addColumn('wrong_passwords', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
};
