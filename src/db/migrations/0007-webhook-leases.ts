import type { SchemaChange } from '../schema-change.ts';

/** Which process sends to a receiver, instead of which holds a delivery: what waits is read and not written. */
export const webhookLeases: SchemaChange = async ({ schema }, { id }) => {
  await schema
    .createTable('webhook_leases')
    .addColumn('client_id', id, (column) => column.primaryKey().notNull())
    .addColumn('holder', 'text', (column) => column.notNull())
    .addColumn('held_until', 'bigint', (column) => column.notNull())
    .execute();
  await schema.alterTable('webhook_deliveries').dropColumn('lease_token').execute();
};
