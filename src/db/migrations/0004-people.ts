import type { SchemaChange } from '../schema-change.ts';

export const people: SchemaChange = async ({ schema }, { id }) => {
  // A person who is removed takes their sessions along, whatever the code does.
  await schema
    .createTable('sessions')
    .addColumn('token_hash', 'text', (column) => column.primaryKey().notNull())
    .addColumn('user_id', id, (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('sessions_user').on('sessions').column('user_id').execute();
  await schema.createIndex('sessions_expiry').on('sessions').column('expires_at').execute();

  await schema
    .createTable('audit_log')
    .addColumn('id', id, (column) => column.primaryKey().notNull())
    .addColumn('shop_id', id, (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('actor_type', 'text', (column) => column.notNull())
    .addColumn('actor_id', id)
    .addColumn('actor_name', 'text', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('subject_type', 'text', (column) => column.notNull())
    .addColumn('subject_id', id, (column) => column.notNull())
    .addColumn('subject_name', 'text', (column) => column.notNull())
    .addColumn('data', 'text', (column) => column.notNull())
    .execute();
  // Ids rise with time, so this is also a shop's log in order.
  await schema.createIndex('audit_log_shop').on('audit_log').columns(['shop_id', 'id']).execute();
};
