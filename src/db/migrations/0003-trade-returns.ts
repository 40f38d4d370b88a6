import { sql } from 'kysely';
import type { SchemaChange } from '../schema-change.ts';

/** With the time of creation at its end, so that counts by status and age are read from the index alone. */
const STATUS_INDEX = ['status', 'number', 'created_at'];

/** Trade returns, and for both kinds what staff search in and an index of when they were made. */
export const tradeReturns: SchemaChange = async (db, engine) => {
  await createTradeReturns(db, engine);
  await makeRepairsSearchable(db, engine);
};

type Schema = Parameters<SchemaChange>[0]['schema'];

const index = (schema: Schema, table: string, name: string, columns: string[]) =>
  schema
    .createIndex(`${table}_${name}`)
    .on(table)
    .columns(['shop_id', ...columns]);

const externalRefIndex = (schema: Schema, table: string) =>
  index(schema, table, 'external_ref', ['external_ref', 'number'])
    .where('external_ref', 'is not', null)
    .execute();

const createTradeReturns: SchemaChange = async ({ schema }, { id }) => {
  await schema
    .createTable('trade_returns')
    .addColumn('id', id, (column) => column.primaryKey().notNull())
    .addColumn('shop_id', id, (column) => column.notNull())
    .addColumn('client_id', id)
    .addColumn('number', 'bigint', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('external_ref', 'text')
    .addColumn('external_source', 'text')
    .addColumn('trade_order_number', 'text', (column) => column.notNull())
    .addColumn('customer_email', 'text', (column) => column.notNull())
    .addColumn('customer_name', 'text', (column) => column.notNull())
    .addColumn('customer_phone', 'text')
    .addColumn('company_name', 'text', (column) => column.notNull())
    .addColumn('company_id', 'text', (column) => column.notNull())
    .addColumn('reason', 'text', (column) => column.notNull())
    .addColumn('items', 'text', (column) => column.notNull())
    .addColumn('shipping_address', 'text', (column) => column.notNull())
    .addColumn('order_date', 'text')
    .addColumn('customer_notes', 'text')
    .addColumn('fault_description', 'text')
    .addColumn('additional_comment', 'text')
    .addColumn('search_text', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute();
  await index(schema, 'trade_returns', 'number', ['number']).unique().execute();
  await index(schema, 'trade_returns', 'status', STATUS_INDEX).execute();
  await index(schema, 'trade_returns', 'order', ['trade_order_number', 'number']).execute();
  await index(schema, 'trade_returns', 'company', ['company_id', 'number']).execute();
  await index(schema, 'trade_returns', 'updated', ['updated_at']).execute();
  await index(schema, 'trade_returns', 'created', ['created_at']).execute();
  await externalRefIndex(schema, 'trade_returns');
};

const makeRepairsSearchable: SchemaChange = async (db) => {
  const { schema } = db;
  await schema
    .alterTable('offline_repairs')
    .addColumn('search_text', 'text', (column) => column.notNull().defaultTo(''))
    .execute();
  // With the number as people read it: at least six digits, more where they are needed.
  const digits = sql`case when number < 1000000 then substr('' || (1000000 + number), 2) else '' || number end`;
  await sql`update offline_repairs set search_text =
    lower('#rma-' || ${digits} || ' ' || order_number || ' ' || customer_name || ' ' || customer_email || ' ' || faulty_item)`.execute(
    db,
  );
  await index(schema, 'offline_repairs', 'created', ['created_at']).execute();
  // With the number at the end, each finds its rows in the order of a list.
  for (const name of ['status', 'order', 'external_ref'])
    await schema.dropIndex(`offline_repairs_${name}`).execute();
  await index(schema, 'offline_repairs', 'order', ['order_number', 'number']).execute();
  await externalRefIndex(schema, 'offline_repairs');
  await index(schema, 'offline_repairs', 'status', STATUS_INDEX).execute();
};
