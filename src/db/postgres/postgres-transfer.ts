import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import type { Trx } from '../database.ts';
import type { Notice } from '../migrate.ts';
import type { Tables } from '../schema.ts';
import {
  type FillAtOnce,
  type Filling,
  fillingFrom,
  type Reading,
  readingOf,
  type ServerFacts,
  type Value,
  type WithSnapshot,
} from '../transfer.ts';
import { Hosts } from './hosts.ts';
import { clientConfig, typesWith } from './pools.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const LOCK_TIMEOUT = '10s';

const ROWS_AT_ONCE = { least: 10, most: 2_000 };
const BYTES_AT_ONCE = 1024 * 1024;

const wholeNumber = (text: string): number | bigint => {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
};

/** A connection of its own, without the time limits of those that serve. */
const connect = async (address: string): Promise<Kysely<Tables>> => {
  const connectionString = await new Hosts(address).connect(async (url) => url);
  const pool = new pg.Pool({
    ...clientConfig,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: 0,
    connectionString,
    types: typesWith(wholeNumber),
    max: 1,
  });
  // A connection that breaks fails the statement that runs, or the next one.
  pool.on('error', () => {});
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
};

/** A transaction may take as long as it needs, unless it says otherwise. */
const setLimits = async (trx: Trx, limits: Record<string, string>): Promise<void> => {
  const all = { statement_timeout: '0', idle_in_transaction_session_timeout: '0', ...limits };
  for (const [name, value] of Object.entries(all))
    await sql`select set_config(${name}, ${value}, true)`.execute(trx);
};

export const postgresSnapshot =
  (address: string, statementTimeoutMs = 0): WithSnapshot =>
  async (work) => {
    const db = await connect(address);
    try {
      return await db
        .transaction()
        .setIsolationLevel('repeatable read')
        .setAccessMode('read only')
        .execute(async (trx) => {
          await setLimits(trx, { statement_timeout: String(statementTimeoutMs) });
          return work(reading(trx));
        });
    } finally {
      await db.destroy();
    }
  };

export const fillPostgres =
  (address: string, notice: Notice): FillAtOnce =>
  async (work) => {
    const db = await connect(address);
    try {
      const result = await db.transaction().execute(async (trx) => {
        await setLimits(trx, { lock_timeout: LOCK_TIMEOUT });
        return work(filling(trx, notice));
      });
      // Until it knows how many rows there are, it plans for empty tables. All is restored, whatever comes of this.
      await sql`analyze`
        .execute(db)
        .catch(() =>
          notice('all is restored, but ANALYZE failed: run it, or PostgreSQL plans for empty tables'),
        );
      return result;
    } finally {
      await db.destroy();
    }
  };

const namesOf = (columns: readonly string[]) => sql.join(columns.map((column) => sql.id(column)));

const reading = (trx: Trx): Reading =>
  readingOf(trx, {
    engine: 'postgres',
    columns: sql`
      select c.relname as table, a.attname as column from pg_class as c join pg_attribute as a on a.attrelid = c.oid
      where c.relnamespace = to_regnamespace(quote_ident(current_schema())) and c.relkind = 'r'
        and a.attnum > 0 and not a.attisdropped
      order by c.relname, a.attnum`,
    server: () => serverFacts(trx),
    rows: (table, columns) => rowsOf(trx, table, columns),
  });

const OLDEST_SUPPORTED = 14;

const serverFacts = async (trx: Trx): Promise<ServerFacts> => {
  const { rows } = await sql<{ version: string; now: number }>`
    select current_setting('server_version') as version,
      extract(epoch from clock_timestamp())::float8 * 1000 as now`.execute(trx);
  const { version = '', now = null } = rows[0] ?? {};
  return {
    version: `PostgreSQL ${version}`,
    isSupported: Number.parseInt(version, 10) >= OLDEST_SUPPORTED,
    nowMs: now,
  };
};

/** Through a cursor, a few rows at a time: as many as had about a megabyte last time. */
async function* rowsOf(trx: Trx, table: string, columns: readonly string[]): AsyncGenerator<Value[]> {
  await sql`declare backup_rows no scroll cursor for select ${namesOf(columns)} from ${sql.table(table)}`.execute(
    trx,
  );
  let atOnce = ROWS_AT_ONCE.least;
  for (;;) {
    const { rows } = await sql<
      Record<string, null | string | number | bigint>
    >`fetch ${sql.lit(atOnce)} from backup_rows`.execute(trx);
    if (rows.length === 0) break;
    let length = 0;
    for (const row of rows) {
      yield columns.map((column) => {
        const value = row[column] ?? null;
        length += typeof value === 'string' ? value.length : 8;
        return typeof value === 'number' ? BigInt(value) : value;
      });
    }
    const fitting = Math.floor((rows.length * BYTES_AT_ONCE) / length);
    atOnce = Math.min(Math.max(fitting, ROWS_AT_ONCE.least), ROWS_AT_ONCE.most);
  }
  await sql`close backup_rows`.execute(trx);
}

const filling = (trx: Trx, notice: Notice): Filling =>
  fillingFrom(reading(trx), notice, {
    async lock(tables) {
      const names = sql.join(tables.map((table) => sql.table(table)));
      if (tables.length > 0) await sql`lock table ${names} in access exclusive mode`.execute(trx);
    },
    async insert(table, columns, rows) {
      const asText = (value: Value | undefined) => (typeof value === 'bigint' ? String(value) : value);
      const records = rows.map((row) =>
        Object.fromEntries(columns.map((column, i) => [column, asText(row[i])])),
      );
      const names = namesOf(columns);
      await sql`insert into ${sql.table(table)} (${names}) select ${names}
        from json_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(records)}::json)`.execute(
        trx,
      );
    },
  });
