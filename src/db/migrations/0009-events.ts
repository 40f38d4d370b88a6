import { sql } from 'kysely';
import type { SchemaChange } from '../schema-change.ts';

const KINDS = ['offline_repairs', 'trade_returns'];

/** The event log, look-ups by serial number, since when an RMA has its status, and clients that replace others. */
export const events: SchemaChange = async (db, words) => {
  await createEvents(db, words);
  await handOutPositionsAndTimes(db, words);
  await addStatusSince(db, words);
  await addSerialNumber(db, words);
  await db.schema.alterTable('api_clients').addColumn('replaced_by', words.id).execute();
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
  await schema.createIndex('events_id').on('events').column('id').unique().execute();
};

const handOutPositionsAndTimes: SchemaChange = async (db) => {
  for (const column of ['last_position', 'last_at'])
    await db.schema
      .alterTable('shop_counters')
      .addColumn(column, 'bigint', (added) => added.notNull().defaultTo(0))
      .execute();
  for (const kind of KINDS) {
    const last = sql`(select max(updated_at) from ${sql.table(kind)} where shop_id = shop_counters.shop_id)`;
    await sql`update shop_counters set last_at = ${last} where ${last} > last_at`.execute(db);
  }
};

const addStatusSince: SchemaChange = async (db) => {
  for (const kind of KINDS) {
    await db.schema.alterTable(kind).addColumn('status_since', 'bigint').execute();
    // The last entry that changed the status.
    await sql`
      update ${sql.table(kind)} set status_since = coalesce((
        select max(at) from timeline
        where rma_id = ${sql.table(kind)}.id and (from_status is null or from_status <> to_status)
      ), created_at)`.execute(db);
  }
};

const addSerialNumber: SchemaChange = async (db, { jsonField }) => {
  await db.schema.alterTable('offline_repairs').addColumn('serial_number', 'text').execute();
  const serial = await jsonField(db, 'faulty_item', 'serialNumber');
  await sql`
    update offline_repairs set serial_number = ${serial}
    where faulty_item like '%"serialNumber":"%'`.execute(db);
  // With the number at the end, it finds its rows in the order of a list.
  await db.schema
    .createIndex('offline_repairs_serial')
    .on('offline_repairs')
    .columns(['shop_id', 'serial_number', 'number'])
    .where('serial_number', 'is not', null)
    .execute();
};
