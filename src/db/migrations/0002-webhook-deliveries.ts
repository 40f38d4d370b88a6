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
    // Why it was dropped; null unless it was.
    .addColumn('reason', 'text')
    .execute();
  // The queue, receiver by receiver: whoever has a backlog is skipped over in one step. First attempts have an index of
  // their own, since they are due whatever clock wrote them (decision 82). Not in the order of ids: SQLite would then read
  // the index of all deliveries of a client instead, those that have ended included.
  await schema
    .createIndex('webhook_deliveries_first')
    .on('webhook_deliveries')
    .columns(['client_id', 'due_at'])
    .where(sql<boolean>`status = 'PENDING' and attempts = 0`)
    .execute();
  await schema
    .createIndex('webhook_deliveries_retry')
    .on('webhook_deliveries')
    .columns(['client_id', 'due_at'])
    .where(sql<boolean>`status = 'PENDING' and attempts > 0`)
    .execute();
  // Ids rise with time, so this is also a client's deliveries in order.
  await schema
    .createIndex('webhook_deliveries_client')
    .on('webhook_deliveries')
    .columns(['client_id', 'id'])
    .execute();
};
