import { type CreateTableBuilder, type Kysely, sql } from 'kysely';
import type { Notice, SchemaChange } from '../schema-change.ts';

/**
 * Rows that are written with every creation or move carry no foreign keys: shops and clients are never deleted, the
 * action that writes has just read both, and the key checks would lock the shop's row under load.
 */
export const initialSchema: SchemaChange = async (db, engine) => {
  const subjects = [
    ...[createShops, createShopSettings, createClients],
    ...[createUsers, createSignIn, createAuditLog, createSavedViews],
    ...[createRepairs, createTradeReturns, indexReturns, createSearch, createTotals, createTimeline],
    ...[createIdempotencyKeys, createEvents, createDeliveries, createInstallation],
  ];
  for (const create of subjects) await create(db, engine);
};

type Db = Parameters<SchemaChange>[0];
type Engine = Parameters<SchemaChange>[1];

const keyedTable = ({ schema }: Db, { id }: Engine, table: string): CreateTableBuilder<string, 'id'> =>
  schema.createTable(table).addColumn('id', id, (column) => column.primaryKey().notNull());

const createShops: SchemaChange = async (db, engine) => {
  await keyedTable(db, engine, 'shops')
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('plan', 'text', (column) => column.notNull())
    .addColumn('subscription', 'text', (column) => column.notNull())
    .addColumn('billing', 'text')
    .addColumn('allowance', 'bigint')
    .addColumn('usage_cap', 'bigint')
    .addColumn('factor_required', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('shop_counters')
    .addColumn('shop_id', engine.id, (column) => column.primaryKey().notNull().references('shops.id'))
    .addColumn('last_number', 'bigint', (column) => column.notNull())
    .addColumn('month', 'text', (column) => column.notNull())
    .addColumn('month_used', 'bigint', (column) => column.notNull())
    .addColumn('last_position', 'bigint', (column) => column.notNull().defaultTo(0))
    .addColumn('last_at', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute();
};

const createShopSettings: SchemaChange = async ({ schema }, { id }) => {
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
  await schema
    .createTable('dangerous_goods')
    .addColumn('shop_id', id, (column) => column.notNull().references('shops.id'))
    .addColumn('pattern', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('dangerous_goods_pkey', ['shop_id', 'pattern'])
    .execute();
  await schema
    .createTable('target_days')
    .addColumn('shop_id', id, (column) => column.notNull().references('shops.id'))
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('days', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('target_days_pkey', ['shop_id', 'status'])
    .execute();
};

const createClients: SchemaChange = async (db, engine) => {
  await keyedTable(db, engine, 'api_clients')
    .addColumn('shop_id', engine.id, (column) => column.notNull().references('shops.id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('key_hash', 'text', (column) => column.notNull().unique())
    .addColumn('webhook_url', 'text')
    .addColumn('webhook_secret', 'text', (column) => column.notNull())
    .addColumn('last_used_at', 'bigint')
    .addColumn('revoked_at', 'bigint')
    .addColumn('replaced_by', engine.id)
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute();
  const index = db.schema.createIndex('api_clients_shop').on('api_clients');
  await index.columns(['shop_id', 'created_at']).execute();
};

const createUsers: SchemaChange = async (db, engine) => {
  const { schema } = db;
  const { id } = engine;
  await keyedTable(db, engine, 'users')
    .addColumn('shop_id', id, (column) => column.notNull().references('shops.id'))
    .addColumn('email', 'text', (column) => column.notNull().unique())
    .addColumn('name', 'text')
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('password_hash', 'text', (column) => column.notNull())
    .addColumn('last_sign_in_at', 'bigint')
    .addColumn('factor_secret', 'text')
    .addColumn('factor_since', 'bigint')
    .addColumn('factor_step', 'bigint', (column) => column.notNull().defaultTo(0))
    .addColumn('factor_removals', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('password_exposed_at', 'bigint')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('users_shop').on('users').column('shop_id').execute();

  await schema
    .createTable('recovery_codes')
    .addColumn('user_id', id, (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('code_hash', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('recovery_codes_pkey', ['user_id', 'code_hash'])
    .execute();

  // People who were removed, until nothing is assigned to them any more.
  await schema
    .createTable('departed_people')
    .addColumn('user_id', id, (column) => column.primaryKey().notNull())
    .addColumn('shop_id', id, (column) => column.notNull())
    .addColumn('left_at', 'bigint', (column) => column.notNull())
    .execute();
};

/** The database itself deletes a person's rows together with the person. */
const createSignIn: SchemaChange = async ({ schema }, { id }) => {
  const ofUser = (table: string) =>
    schema
      .createTable(table)
      .addColumn('user_id', id, (column) => column.notNull().references('users.id').onDelete('cascade'));
  const index = (name: string, table: string, column: string) =>
    schema.createIndex(name).on(table).column(column).execute();

  await ofUser('sessions')
    .addColumn('token_hash', 'text', (column) => column.primaryKey().notNull())
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addColumn('wrong_passwords', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('proved_at', 'bigint', (column) => column.notNull())
    .addColumn('browser', 'text')
    .addColumn('address', 'text', (column) => column.notNull())
    .addColumn('last_used_at', 'bigint', (column) => column.notNull())
    .execute();
  await index('sessions_user', 'sessions', 'user_id');
  await index('sessions_expiry', 'sessions', 'expires_at');

  await ofUser('access_links')
    .addColumn('token_hash', 'text', (column) => column.primaryKey().notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
  await index('access_links_user', 'access_links', 'user_id');
  await index('access_links_expiry', 'access_links', 'expires_at');

  await ofUser('sign_in_addresses')
    .addColumn('address', 'text', (column) => column.notNull())
    .addColumn('seen_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('sign_in_addresses_pkey', ['user_id', 'address'])
    .execute();
  await index('sign_in_addresses_age', 'sign_in_addresses', 'seen_at');

  await schema
    .createTable('sign_in_failures')
    .addColumn('key', 'text', (column) => column.primaryKey().notNull())
    .addColumn('failures', 'integer', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addColumn('audit_id', id)
    .execute();
  await index('sign_in_failures_expiry', 'sign_in_failures', 'expires_at');
};

const createAuditLog: SchemaChange = async (db, engine) => {
  await keyedTable(db, engine, 'audit_log')
    .addColumn('shop_id', engine.id, (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('actor_type', 'text', (column) => column.notNull())
    .addColumn('actor_id', engine.id)
    .addColumn('actor_name', 'text', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('subject_type', 'text', (column) => column.notNull())
    .addColumn('subject_id', engine.id, (column) => column.notNull())
    .addColumn('subject_name', 'text', (column) => column.notNull())
    .addColumn('data', 'text', (column) => column.notNull())
    .addColumn('address', 'text')
    .execute();
  // Ids rise with time, so this is also a shop's log in order.
  await db.schema.createIndex('audit_log_shop').on('audit_log').columns(['shop_id', 'id']).execute();
};

const createSavedViews: SchemaChange = async (db, engine) => {
  // A view without a person is shown to all of the shop.
  await keyedTable(db, engine, 'saved_views')
    .addColumn('shop_id', engine.id, (column) => column.notNull().references('shops.id'))
    .addColumn('user_id', engine.id, (column) => column.references('users.id').onDelete('cascade'))
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('search', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('saved_views_shop').on('saved_views').columns(['shop_id', 'id']).execute();
  await db.schema.createIndex('saved_views_user').on('saved_views').column('user_id').execute();
};

const KINDS = ['offline_repairs', 'trade_returns'] as const;
type Kind = (typeof KINDS)[number];

/** With the columns that both kinds of return have. */
const returnTable = (db: Db, engine: Engine, kind: Kind) =>
  keyedTable(db, engine, kind)
    .addColumn('shop_id', engine.id, (column) => column.notNull())
    .addColumn('client_id', engine.id)
    .addColumn('number', 'bigint', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('status_since', 'bigint', (column) => column.notNull())
    .addColumn('assignee_id', engine.id)
    .addColumn('external_ref', 'text')
    .addColumn('external_source', 'text')
    .addColumn('customer_email', 'text', (column) => column.notNull())
    .addColumn('customer_name', 'text', (column) => column.notNull())
    .addColumn('customer_phone', 'text')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull());

const createRepairs: SchemaChange = async (db, engine) => {
  await returnTable(db, engine, 'offline_repairs')
    .addColumn('order_number', 'text', (column) => column.notNull())
    .addColumn('search_text', 'text', (column) => column.notNull().defaultTo(''))
    .addColumn('faulty_item', 'text', (column) => column.notNull())
    .addColumn('serial_number', 'text')
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
    .execute();
};

const createTradeReturns: SchemaChange = async (db, engine) => {
  await returnTable(db, engine, 'trade_returns')
    .addColumn('trade_order_number', 'text', (column) => column.notNull())
    .addColumn('search_text', 'text', (column) => column.notNull())
    .addColumn('company_name', 'text', (column) => column.notNull())
    .addColumn('company_id', 'text', (column) => column.notNull())
    .addColumn('reason', 'text', (column) => column.notNull())
    .addColumn('items', 'text', (column) => column.notNull())
    .addColumn('shipping_address', 'text', (column) => column.notNull())
    .addColumn('order_date', 'text')
    .addColumn('customer_notes', 'text')
    .addColumn('fault_description', 'text')
    .addColumn('additional_comment', 'text')
    .execute();
};

const indexesOf =
  ({ schema }: Db, kind: Kind) =>
  (name: string, columns: string[]) =>
    schema
      .createIndex(`${kind}_${name}`)
      .on(kind)
      .columns(['shop_id', ...columns]);

/** With the number at the end, most give their rows in the order of a list. */
const indexReturns: SchemaChange = async (db) => {
  for (const kind of KINDS) await indexBoth(db, kind);
  const repairs = indexesOf(db, 'offline_repairs');
  await repairs('order', ['order_number', 'number']).execute();
  await repairs('store', ['store_id', 'number', 'status']).execute();
  await repairs('serial', ['serial_number', 'number']).where('serial_number', 'is not', null).execute();
  const tradeReturns = indexesOf(db, 'trade_returns');
  await tradeReturns('order', ['trade_order_number', 'number']).execute();
  await tradeReturns('company', ['company_id', 'number']).execute();
};

/** What is open, spelt as statements spell it (`rma/open.ts`), so that they find the indexes of open returns. */
const IS_OPEN = {
  offline_repairs: sql<boolean>`status <> 'OFFLINE_CLOSED'`,
  trade_returns: sql<boolean>`status <> 'TRADE_REJECTED' and status <> 'TRADE_RESOLVED'`,
};

const indexBoth = async (db: Db, kind: Kind): Promise<void> => {
  const index = indexesOf(db, kind);
  await index('number', ['number']).unique().execute();
  // With the time of creation, so that counts by status and age are read from the index alone.
  await index('status', ['status', 'number', 'created_at']).execute();
  await index('updated', ['updated_at']).execute();
  await index('created', ['created_at']).execute();
  await index('external_ref', ['external_ref', 'number']).where('external_ref', 'is not', null).execute();
  await index('assignee', ['assignee_id', 'number']).where('assignee_id', 'is not', null).execute();
  // With all that open returns are counted and ordered by. Without the status SQLite would not count from it: 480 ms instead of 30 for
  // 80,000 open returns of a million.
  const counted = ['number', 'assignee_id', 'created_at', 'updated_at', 'status'];
  await index('open', counted).where(IS_OPEN[kind]).execute();
  await index('waiting', ['status_since', 'number', 'status']).where(IS_OPEN[kind]).execute();
  const ofCustomer = db.schema.createIndex(`${kind}_customer`).on(kind);
  await ofCustomer.expression(sql`shop_id, lower(customer_email), number`).execute();
};

const createSearch: SchemaChange = async (db, { trigrams, notice }) => {
  if (trigrams) return addTrigrams(db, notice);
  // A scan of this index alone passes a million texts in about a tenth of a second.
  for (const kind of KINDS) await indexesOf(db, kind)('search', ['number', 'search_text']).execute();
};

/** The user may not create it, or the server does not have it; anything else fails the migration (decision 107). */
const NOT_AVAILABLE = new Set(['42501', '0A000', '58P01', '42704']);

/** Where the extension is not available, searches still find everything, by reading every text of the shop. */
const addTrigrams = async (db: Kysely<unknown>, notice: Notice): Promise<void> => {
  await sql`savepoint before_trigrams`.execute(db);
  try {
    await sql`create extension if not exists pg_trgm`.execute(db);
    for (const kind of KINDS)
      await sql`create index ${sql.id(`${kind}_search`)} on ${sql.table(kind)} using gin (search_text gin_trgm_ops)`.execute(
        db,
      );
  } catch (error) {
    const code = String((error as { code?: unknown }).code);
    if (!NOT_AVAILABLE.has(code)) throw error;
    await sql`rollback to savepoint before_trigrams`.execute(db);
    notice(
      `the extension pg_trgm is not available (${code}): searches work without it, and take longer the more returns a shop has`,
    );
  }
};

/** Kept instead of counted, for shops with a million RMAs. */
const createTotals: SchemaChange = async ({ schema }, { id }) => {
  await schema
    .createTable('rma_totals')
    .addColumn('shop_id', id, (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('origin', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('count', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('rma_totals_pkey', ['shop_id', 'kind', 'origin', 'status'])
    .execute();
};

const createTimeline: SchemaChange = async ({ schema }, { id }) => {
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
};

const createIdempotencyKeys: SchemaChange = async ({ schema }, { id }) => {
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

/** A shop's events in the order of their commits. A delivery has the id of its event, and finds its body here. */
const createEvents: SchemaChange = async ({ schema }, { id }) => {
  await schema
    .createTable('events')
    .addColumn('shop_id', id, (column) => column.notNull())
    .addColumn('position', 'bigint', (column) => column.notNull())
    .addColumn('id', id, (column) => column.notNull())
    .addColumn('rma_id', id, (column) => column.notNull())
    .addColumn('event', 'text', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('events_pkey', ['shop_id', 'position'])
    .execute();
  // Ids rise with time, so the clean-up finds the oldest events by it as well.
  await schema.createIndex('events_id').on('events').column('id').unique().execute();
};

const createDeliveries: SchemaChange = async (db, engine) => {
  const { schema } = db;
  await keyedTable(db, engine, 'webhook_deliveries')
    .addColumn('client_id', engine.id, (column) => column.notNull())
    // A test event is about no RMA.
    .addColumn('rma_id', engine.id)
    .addColumn('event', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('attempt_log', 'text', (column) => column.notNull())
    .addColumn('due_at', 'bigint', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('finished_at', 'bigint')
    .addColumn('reason', 'text')
    .execute();
  const index = (name: string, columns: string[]) =>
    schema.createIndex(`webhook_deliveries_${name}`).on('webhook_deliveries').columns(columns);
  // The queue, receiver by receiver: one with a backlog is skipped in one step. First attempts have an index of their own,
  // since they are due whatever clock wrote them (decision 82). Not in the order of ids: SQLite would then read the index of
  // all deliveries of a client instead, those that have ended included.
  const queue = ['client_id', 'due_at'];
  await index('first', queue).where(sql<boolean>`status = 'PENDING' and attempts = 0`).execute();
  await index('retry', queue).where(sql<boolean>`status = 'PENDING' and attempts > 0`).execute();
  // Ids rise with time, so these are also a client's deliveries in order.
  await index('client', ['client_id', 'id']).execute();
  await index('rma', ['client_id', 'rma_id', 'id']).execute();
  await index('dropped', ['client_id', 'id']).where(sql<boolean>`status = 'DROPPED'`).execute();

  // Which process sends to a receiver, instead of which holds a delivery: what waits is read and not written.
  await schema
    .createTable('webhook_leases')
    .addColumn('client_id', engine.id, (column) => column.primaryKey().notNull())
    .addColumn('holder', 'text', (column) => column.notNull())
    .addColumn('held_until', 'bigint', (column) => column.notNull())
    .execute();
};

const createInstallation: SchemaChange = async (db, { unlogged }) => {
  await db.schema
    .createTable('installation')
    .addColumn('name', 'text', (column) => column.primaryKey().notNull())
    .addColumn('value', 'text', (column) => column.notNull())
    .execute();

  // Times of an address's last calls, in milliseconds, and how many of the latest it was allowed. SQLite counts in memory.
  const limits = db.schema.createTable('rate_limits');
  await (unlogged ? limits.modifyFront(sql`unlogged`) : limits)
    .addColumn('key', 'text', (column) => column.primaryKey().notNull())
    .addColumn('times', unlogged ? sql`double precision[]` : 'text', (column) => column.notNull())
    .addColumn('taken', 'integer', (column) => column.notNull())
    .addColumn('expire', 'double precision', (column) => column.notNull())
    .execute();
};
