import { EventEmitter } from 'node:events';
import Sqlite from 'better-sqlite3';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  type SelectModifierNode,
  SqliteAdapter,
  SqliteDialect,
  SqliteDriver,
  SqliteQueryCompiler,
  sql,
} from 'kysely';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { systemClock } from '../clock.ts';
import type { Database, Insertion, Observer, ReadThenWrite } from './database.ts';
import { asJson } from './known-statements.ts';
import { logQuery } from './log-query.ts';
import { memoryRateGate } from './memory-rate-gate.ts';
import { migrateToLatest } from './migrate.ts';
import { noteReady } from './ready.ts';
import type { Tables } from './tables.ts';

/** How long a writer waits for another process (the command line beside the server) before it gives up. */
const BUSY_TIMEOUT_MS = 2000;
const CACHED_STATEMENTS = 500;
const WAKE = 'wake';

export const openSqlite = (file: string, { onQuery, onFault }: Observer): Database => {
  const connection = new Sqlite(file, { timeout: BUSY_TIMEOUT_MS });
  connection.pragma('journal_mode = WAL');
  // FULL, not NORMAL: a commit is on disk before it is acknowledged.
  connection.pragma('synchronous = FULL');
  connection.pragma('foreign_keys = ON');
  connection.pragma('cache_size = -16384');
  connection.pragma('wal_autocheckpoint = 4000');

  const statements = cachingStatements(connection);
  const db = new Kysely<Tables>({
    dialect: new Dialect(connection, statements),
    log: logQuery(onQuery),
  });
  /** On the connection itself, which the transaction holds: a row at a time costs less here than taking JSON apart. */
  const insert = ({ table, rows }: Insertion): void => {
    const columns = Object.keys(rows[0] ?? {});
    const marks = columns.map(() => '?');
    const statement = statements.prepare(`insert into ${table} (${columns.join()}) values (${marks.join()})`);
    for (const row of rows) statement.run(Object.values(row));
  };
  const atomically: ReadThenWrite = (work) =>
    db.transaction().execute(async (trx) => {
      const { writes, result } = await work(trx);
      for (const write of writes) {
        if ('table' in write) insert(write);
        else await trx.executeQuery(write);
      }
      return result;
    });
  const listeners = new EventEmitter();
  return {
    clock: systemClock,
    db,
    steady: db,
    reads: db,
    migrate: () => migrateToLatest(db, { id: 'text', unlogged: false, trigrams: false }),
    // One process, so counters need not outlive it nor be shared.
    rateLimiter: ({ name, points, seconds }) =>
      new RateLimiterMemory({ keyPrefix: name, points, duration: seconds }),
    rateGate: memoryRateGate,
    // A transaction here excludes every other writer already: whoever asks second comes after the first has ended.
    tryLocks: async () => new Set(),
    rows: (alias, columns, values) => {
      const parts = Object.keys(columns).map(
        (name) => sql`json_extract(value, ${sql.lit(`$.${name}`)}) as ${sql.id(name)}`,
      );
      return sql`(select ${sql.join(parts)} from json_each(${asJson(values)})) as ${sql.id(alias)}`;
    },
    oneOf: (_kind, values) => sql`in (select value from json_each(${asJson(values)}))`,
    // Takes half as long as LIKE, which also minds upper and lower case.
    contains: (column, part) => sql`${sql.ref(column)} glob ${`*${part.replaceAll(/[*?[]/g, '[$&]')}*`}`,
    atomically,
    // Everything here comes one after another anyway.
    lane: () => atomically,
    patiently: atomically,
    // The more share a commit, the fewer wait for the disk.
    laneful: 100,
    lightly: (work) =>
      db.connection().execute(async (alone) => {
        connection.pragma('synchronous = NORMAL');
        try {
          return await work(alone);
        } finally {
          connection.pragma('synchronous = FULL');
        }
      }),
    wake(clientId) {
      // The change is committed: nothing that goes wrong from here on may fail the request.
      try {
        listeners.emit(WAKE, clientId);
      } catch (error) {
        onFault('wake-up call failed', error);
      }
    },
    onWake: async (listener) => {
      listeners.on(WAKE, listener);
      return async () => void listeners.off(WAKE, listener);
    },
    checkReady: () => noteReady(db, systemClock.now()),
    close: () => db.destroy(),
  };
};

/** Kysely prepares anew for every query; preparing costs more than most of our queries take to run. */
const cachingStatements = (connection: Sqlite.Database) => {
  const statements = new Map<string, Sqlite.Statement>();
  return {
    prepare(sql: string) {
      let statement = statements.get(sql);
      if (!statement) {
        if (statements.size >= CACHED_STATEMENTS) statements.clear();
        statement = connection.prepare(sql);
        statements.set(sql, statement);
      }
      return statement as Sqlite.Statement<unknown[]> & { readonly reader: boolean };
    },
    close: () => connection.close(),
  };
};

type Statements = ReturnType<typeof cachingStatements>;

class Dialect extends SqliteDialect {
  readonly #connection: Sqlite.Database;
  readonly #statements: Statements;
  constructor(connection: Sqlite.Database, statements: Statements) {
    super({ database: statements });
    this.#connection = connection;
    this.#statements = statements;
  }
  override createDriver(): Driver {
    return new ImmediateDriver(this.#connection, this.#statements);
  }
  override createQueryCompiler() {
    return new Compiler();
  }
  override createAdapter() {
    return new Adapter();
  }
}

/** A transaction takes the write lock at its start, so it never fails half-way because somebody else wrote first. */
class ImmediateDriver extends SqliteDriver {
  readonly #connection: Sqlite.Database;
  constructor(connection: Sqlite.Database, statements: Statements) {
    super({ database: statements });
    this.#connection = connection;
  }
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }
  /** On a full disk SQLite rolls back by itself; to ask again would fail and hide the reason. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#connection.inTransaction) await super.rollbackTransaction(connection);
  }
}

/** `for update skip locked` has no word here and needs none: the transaction holds the whole file. */
class Compiler extends SqliteQueryCompiler {
  protected override visitSelectModifier(node: SelectModifierNode): void {
    if (node.modifier !== 'ForUpdate' && node.modifier !== 'SkipLocked') super.visitSelectModifier(node);
  }
}

/** SQLite's schema changes are transactional, and the immediate transaction around them is the migrations' lock. */
class Adapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}
