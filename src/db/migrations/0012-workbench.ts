import { type Kysely, sql } from 'kysely';
import type { SchemaChange } from '../schema-change.ts';

const KINDS = ['offline_repairs', 'trade_returns'] as const;

/** What is open, spelt as statements spell it (`rma/open.ts`), so that they find the indexes of open returns. */
const IS_OPEN = {
  offline_repairs: sql<boolean>`status <> 'OFFLINE_CLOSED'`,
  trade_returns: sql<boolean>`status <> 'TRADE_REJECTED' and status <> 'TRADE_RESOLVED'`,
};

/** People on returns, target days, saved views, and searches that find reference, tracking number and phone. */
export const workbench: SchemaChange = async (db, words) => {
  for (const kind of KINDS) {
    await db.schema.alterTable(kind).addColumn('assignee_id', words.id).execute();
    await sql`update ${sql.table(kind)} set status_since = updated_at where status_since is null`.execute(db);
  }
  await indexOpenReturns(db, words);
  await createTargetDays(db, words);
  await createSavedViews(db, words);
  await extendSearchTexts(db);
};

const indexOpenReturns: SchemaChange = async ({ schema }) => {
  const index = (kind: string, name: string, columns: string[]) =>
    schema
      .createIndex(`${kind}_${name}`)
      .on(kind)
      .columns(['shop_id', ...columns]);
  for (const kind of KINDS) {
    // In the order of a list, with all that open returns are counted and ordered by.
    await index(kind, 'open', ['number', 'assignee_id', 'created_at', 'updated_at'])
      .where(IS_OPEN[kind])
      .execute();
    await index(kind, 'waiting', ['status_since', 'number', 'status']).where(IS_OPEN[kind]).execute();
    await index(kind, 'assignee', ['assignee_id', 'number']).where('assignee_id', 'is not', null).execute();
  }
  await index('offline_repairs', 'store', ['store_id', 'number', 'status']).execute();
};

const createTargetDays: SchemaChange = async ({ schema }, { id }) => {
  await schema
    .createTable('target_days')
    .addColumn('shop_id', id, (column) => column.notNull().references('shops.id'))
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('days', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('target_days_pkey', ['shop_id', 'status'])
    .execute();
  // People who were removed, until nothing is assigned to them any more.
  await schema
    .createTable('departed_people')
    .addColumn('user_id', id, (column) => column.primaryKey().notNull())
    .addColumn('shop_id', id, (column) => column.notNull())
    .addColumn('left_at', 'bigint', (column) => column.notNull())
    .execute();
};

const createSavedViews: SchemaChange = async ({ schema }, { id }) => {
  // Without a person it is everybody's. A person who is removed takes their own views along.
  await schema
    .createTable('saved_views')
    .addColumn('id', id, (column) => column.primaryKey().notNull())
    .addColumn('shop_id', id, (column) => column.notNull().references('shops.id'))
    .addColumn('user_id', id, (column) => column.references('users.id').onDelete('cascade'))
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('search', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('saved_views_shop').on('saved_views').columns(['shop_id', 'id']).execute();
  await schema.createIndex('saved_views_user').on('saved_views').column('user_id').execute();
};

const SEPARATORS = [' ', '-', '(', ')', '+', '.', '/'];

/** Adds what searches could not find before. A phone number stands there as it is written, and as its digits. */
const extendSearchTexts = async (db: Kysely<unknown>): Promise<void> => {
  const digits = SEPARATORS.reduce(
    (rest, separator) => sql`replace(${rest}, ${sql.lit(separator)}, '')`,
    sql`coalesce(customer_phone, '')`,
  );
  const added = (...columns: string[]) =>
    sql.join(
      columns.map((column) => sql`coalesce(' ' || ${sql.ref(column)}, '')`),
      sql` || `,
    );
  const renew = (kind: string, ...columns: string[]) =>
    sql`
      update ${sql.table(kind)} set search_text = search_text || lower(${added(...columns)}) || ' ' || ${digits}
      where ${sql.join(
        columns.map((column) => sql`${sql.ref(column)} is not null`),
        sql` or `,
      )}`.execute(db);
  await renew('offline_repairs', 'external_ref', 'tracking_number', 'customer_phone');
  await renew('trade_returns', 'external_ref', 'customer_phone');
};
