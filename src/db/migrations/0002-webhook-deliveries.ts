import { sql } from 'kysely';
import type { SchemaChange } from '../schema-change.ts';

export const webhookDeliveries: SchemaChange = async ({ schema }, { id }) => {
  await schema
    .createTable('webhook_deliveries')
    .addColumn('id', id, (column) => column.primaryKey().notNull())
    .addColumn('client_id', id, (column) => column.notNull())
    // A test event is about no RMA.
    .addColumn('rma_id', id)
    .addColumn('event', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('attempt_log', 'text', (column) => column.notNull())
    .addColumn('due_at', 'bigint', (column) => column.notNull())
    .addColumn('lease_token', 'text')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('finished_at', 'bigint')
    .execute();
  // The queue, receiver by receiver: whoever has a backlog is skipped over in one step.
  await schema
    .createIndex('webhook_deliveries_waiting')
    .on('webhook_deliveries')
    .columns(['client_id', 'due_at'])
    .where(sql<boolean>`status = 'PENDING'`)
    .execute();
  // Ids rise with time, so this is also a client's deliveries in order.
  await schema
    .createIndex('webhook_deliveries_client')
    .on('webhook_deliveries')
    .columns(['client_id', 'id'])
    .execute();
};
