import { type CreateTableBuilder, sql } from 'kysely';
import type { SchemaChange } from '../schema-change.ts';

/**
 * Rows that are written with every creation or move carry no foreign keys: shops and clients are never deleted, the
 * action that writes has just read both, and the key checks would lock the shop's row under load.
 */
export const initial: SchemaChange = async (db, engine) => {
  await createShops(db, engine);
  await createPeopleAndClients(db, engine);
  await createRepairs(db, engine);
  await createTimelineAndKeys(db, engine);
  await createInstallation(db, engine);
};

const keyedTable = (
  { schema }: Parameters<SchemaChange>[0],
  { id }: Parameters<SchemaChange>[1],
  table: string,
): CreateTableBuilder<string, 'id'> =>
  schema.createTable(table).addColumn('id', id, (column) => column.primaryKey().notNull());

const createShops: SchemaChange = async (db, engine) => {
  const { schema } = db;
  const { id } = engine;
  await keyedTable(db, engine, 'shops')
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('plan', 'text', (column) => column.notNull())
    .addColumn('subscription', 'text', (column) => column.notNull())
    .addColumn('billing', 'text')
    .addColumn('allowance', 'bigint')
    .addColumn('usage_cap', 'bigint')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute();

  await schema
    .createTable('shop_counters')
    .addColumn('shop_id', id, (column) => column.primaryKey().notNull().references('shops.id'))
    .addColumn('last_number', 'bigint', (column) => column.notNull())
    .addColumn('month', 'text', (column) => column.notNull())
    .addColumn('month_used', 'bigint', (column) => column.notNull())
    .execute();

  await schema
    .createTable('dangerous_goods')
    .addColumn('shop_id', id, (column) => column.notNull().references('shops.id'))
    .addColumn('pattern', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('dangerous_goods_pkey', ['shop_id', 'pattern'])
    .execute();
};

const createPeopleAndClients: SchemaChange = async (db, engine) => {
  const { schema } = db;
  const { id } = engine;
  await keyedTable(db, engine, 'api_clients')
    .addColumn('shop_id', id, (column) => column.notNull().references('shops.id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('key_hash', 'text', (column) => column.notNull().unique())
    .addColumn('webhook_url', 'text')
    .addColumn('webhook_secret', 'text', (column) => column.notNull())
    .addColumn('last_used_at', 'bigint')
    .addColumn('revoked_at', 'bigint')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('api_clients_shop').on('api_clients').columns(['shop_id', 'created_at']).execute();

  await keyedTable(db, engine, 'users')
    .addColumn('shop_id', id, (column) => column.notNull().references('shops.id'))
    .addColumn('email', 'text', (column) => column.notNull().unique())
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('password_hash', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('users_shop').on('users').column('shop_id').execute();
};

const createRepairs: SchemaChange = async (db, engine) => {
  const { schema } = db;
  const { id } = engine;
  await keyedTable(db, engine, 'offline_repairs')
    .addColumn('shop_id', id, (column) => column.notNull())
    .addColumn('client_id', id)
    .addColumn('number', 'bigint', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('external_ref', 'text')
    .addColumn('external_source', 'text')
    .addColumn('order_number', 'text', (column) => column.notNull())
    .addColumn('customer_email', 'text', (column) => column.notNull())
    .addColumn('customer_name', 'text', (column) => column.notNull())
    .addColumn('customer_phone', 'text')
    .addColumn('faulty_item', 'text', (column) => column.notNull())
    .addColumn('fault_description', 'text', (column) => column.notNull())
    .addColumn('store_id', 'text', (column) => column.notNull())
    .addColumn('replacement_sku', 'text')
    .addColumn('notes', 'text')
    .addColumn('is_dangerous', 'integer', (column) => column.notNull())
    .addColumn('tracking_number', 'text')
    .addColumn('carrier_name', 'text')
    .addColumn('offline_disposition', 'text')
    .addColumn('assigned_to_id', 'text')
    .addColumn('repair_notes', 'text')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute();
  const index = (name: string, columns: string[]) =>
    schema
      .createIndex(`offline_repairs_${name}`)
      .on('offline_repairs')
      .columns(['shop_id', ...columns]);
  await index('number', ['number']).unique().execute();
  await index('status', ['status', 'number']).execute();
  await index('order', ['order_number']).execute();
  await index('updated', ['updated_at']).execute();
  await index('external_ref', ['external_ref']).where('external_ref', 'is not', null).execute();
};

const createTimelineAndKeys: SchemaChange = async ({ schema }, { id }) => {
  // An RMA's times strictly rise, so (rma, time) names an entry and keeps the timeline in order on disk.
  await schema
    .createTable('timeline')
    .addColumn('rma_id', id, (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('id', id, (column) => column.notNull())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('actor_type', 'text', (column) => column.notNull())
    .addColumn('actor_id', id)
    .addColumn('actor_name', 'text', (column) => column.notNull())
    .addColumn('from_status', 'text')
    .addColumn('to_status', 'text')
    .addColumn('note', 'text')
    .addColumn('data', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('timeline_pkey', ['rma_id', 'at'])
    .execute();

  await schema
    .createTable('idempotency_keys')
    .addColumn('client_id', id, (column) => column.notNull())
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('body_hash', 'text', (column) => column.notNull())
    .addColumn('answer', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('idempotency_keys_pkey', ['client_id', 'key'])
    .execute();
  await schema.createIndex('idempotency_keys_age').on('idempotency_keys').column('created_at').execute();
};

const createInstallation: SchemaChange = async (db, { unlogged }) => {
  await db.schema
    .createTable('installation')
    .addColumn('name', 'text', (column) => column.primaryKey().notNull())
    .addColumn('value', 'text', (column) => column.notNull())
    .execute();

  // Columns and their order are the limiter library's.
  await sql`create ${sql.raw(unlogged ? 'unlogged' : '')} table rate_limits (
    key varchar(255) primary key, points integer not null default 0, expire bigint)`.execute(db);
};
