import { type Kysely, sql } from 'kysely';
import type { Trx } from '../database.ts';
import type { Notice } from '../migrate.ts';
import type { Tables } from '../schema.ts';
import {
  type FillAtOnce,
  type Filling,
  type ServerFacts,
  transferOf,
  type Value,
  type WithSnapshot,
} from '../transfer.ts';
import { Hosts } from './hosts.ts';
import { setting, typesWith, withOwnPool } from './pools.ts';
import { insertRows, namesOf } from './transaction.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const LOCK_TIMEOUT_MS = 10_000;

const ROWS_AT_ONCE = { least: 10, most: 2_000 };
const BYTES_AT_ONCE = 1024 * 1024;

const wholeNumber = (text: string): number | bigint => {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
};

/** On one connection of its own, where a statement may take as long as it needs unless `limits` says otherwise. */
const alone = async <Result>(
  address: string,
  limits: Record<string, string | number>,
  work: (db: Kysely<Tables>) => Promise<Result>,
): Promise<Result> => {
  const connectionString = await new Hosts(address).connect(async (url) => url);
  const settings = { statement_timeout: 0, idle_in_transaction_session_timeout: 0, ...limits };
  return withOwnPool(
    {
      connectionString,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      types: typesWith(wholeNumber),
      max: 1,
      onConnect: async (client) => void (await client.query(setting(settings))),
    },
    work,
  );
};

export const postgresSnapshot =
  (address: string, statementTimeoutMs = 0): WithSnapshot =>
  (work) =>
    alone(address, { statement_timeout: statementTimeoutMs }, (db) =>
      db
        .transaction()
        .setIsolationLevel('repeatable read')
        .setAccessMode('read only')
        .execute((trx) => work(transfer(trx, () => {}))),
    );

export const fillPostgres =
  (address: string, notice: Notice): FillAtOnce =>
  (work) =>
    alone(address, { lock_timeout: LOCK_TIMEOUT_MS }, async (db) => {
      const result = await db.transaction().execute((trx) => work(transfer(trx, notice)));
      // Until it knows how many rows there are, it plans for empty tables. All is restored, whatever comes of this.
      await sql`analyze`
        .execute(db)
        .catch(() =>
          notice('all is restored, but ANALYZE failed: run it, or PostgreSQL plans for empty tables'),
        );
      return result;
    });

const transfer = (trx: Trx, notice: Notice): Filling =>
  transferOf(trx, notice, {
    engine: 'postgres',
    server: () => serverFacts(trx),
    rows: (table, columns) => rowsOf(trx, table, columns),
    async lock(tables) {
      const names = sql.join(tables.map((table) => sql.table(table)));
      if (tables.length > 0) await sql`lock table ${names} in access exclusive mode`.execute(trx);
    },
    async insert(table, columns, rows) {
      const asText = (value: Value | undefined) => (typeof value === 'bigint' ? String(value) : value);
      const records = rows.map((row) =>
        Object.fromEntries(columns.map((column, i) => [column, asText(row[i])])),
      );
      await insertRows(table, columns, records).execute(trx);
    },
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
