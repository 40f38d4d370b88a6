import { sql } from 'kysely';
import type { SchemaChange } from '../schema-change.ts';

/** For clients with a million deliveries: those of one RMA, and those that were dropped, are found among the others. */
export const deliveries: SchemaChange = async ({ schema }) => {
  await schema
    .createIndex('webhook_deliveries_rma')
    .on('webhook_deliveries')
    .columns(['client_id', 'rma_id', 'id'])
    .execute();
  await schema
    .createIndex('webhook_deliveries_dropped')
    .on('webhook_deliveries')
    .columns(['client_id', 'id'])
    .where(sql<boolean>`status = 'DROPPED'`)
    .execute();
};
