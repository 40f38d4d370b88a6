import { sql } from 'kysely';
import type { SchemaChange } from '../schema-change.ts';

/** What a shop prints on its slips, and what leads to the earlier returns of a customer. */
export const shopSettings: SchemaChange = async ({ schema }, { id }) => {
  await schema
    .createTable('shop_settings')
    .addColumn('shop_id', id, (column) => column.primaryKey().notNull().references('shops.id'))
    .addColumn('name', 'text')
    .addColumn('address', 'text', (column) => column.notNull())
    .addColumn('phone', 'text')
    .addColumn('email', 'text')
    .addColumn('currency', 'text')
    .addColumn('time_zone', 'text')
    .addColumn('slip_text', 'text')
    .addColumn('logo', 'text')
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute();
  for (const kind of ['offline_repairs', 'trade_returns'])
    await schema
      .createIndex(`${kind}_customer`)
      .on(kind)
      .expression(sql`shop_id, lower(customer_email), number`)
      .execute();
};
