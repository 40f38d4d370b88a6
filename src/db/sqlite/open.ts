import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { Kysely, sql } from 'kysely';
import { ConfigError } from '../../lib/config-error.ts';
import { ensurePrivateFile } from '../../lib/private-files.ts';
import { systemClock } from '../../lib/time.ts';
import { saveFact } from '../installation-facts.ts';
import { migrateToLatest, SCHEMA_DIALECTS } from '../migrate.ts';
import { memoryRateGate } from '../rate-windows.ts';
import type { Tables } from '../schema.ts';
import { CompiledStatements, sqliteDialect } from '../statements.ts';
import type { Database, Db, Fill, Insertion, Observer, ReadThenWrite, Update } from '../types.ts';
import {
  isBusy,
  LONGEST_PAUSE_MS,
  SqliteConnections,
  START_WAIT_MS,
  type Synchronous,
  sessionDialect,
} from './driver.ts';
import { HeavyReads } from './heavy-reads.ts';

export const openSqlite = (file: string, { onQuery, onDatabaseError }: Observer): Database => {
  const heavyReads = new HeavyReads(file, onDatabaseError);
  const connections = new SqliteConnections(file, () => checkpointWal(['passive']));
  // The number of listeners is not limited, since any number of requests may wait for events.
  const listeners = new EventEmitter().setMaxListeners(0);
  const openKysely = (synchronous: Synchronous, more: { waitMs?: number; heavyReads?: HeavyReads } = {}) =>
    new Kysely<Tables>({
      dialect: sessionDialect({ connections, synchronous, ...more }),
      log: ({ queryDurationMillis, level }) => onQuery(queryDurationMillis, level === 'error'),
    });
  const db = openKysely('FULL');
  const relaxed = openKysely('NORMAL');
  const { fill } = new CompiledStatements({ db, ...sqliteDialect });
  const transaction = readThenWrite(db, connections, fill);
  const analyze = async (): Promise<void> => {
    if (!(await analyzeGrown(relaxed, heavyReads))) return;
    connections.reopenReader();
    await heavyReads.endThreads();
  };
  // The WAL keeps old pages until they are overwritten. A checkpoint waits for the disk, so it runs in a thread; others may write
  // meanwhile, except during `truncate`.
  const checkpointWal = async (modes: ('passive' | 'truncate')[]): Promise<void> => {
    try {
      for (const mode of modes)
        await heavyReads.run({ sql: `pragma wal_checkpoint(${mode})`, parameters: [] });
    } catch (error) {
      onDatabaseError('checkpoint failed', error);
    }
  };
  return {
    clock: systemClock,
    db,
    lists: db,
    shortLists: db,
    reads: db,
    scans: openKysely('FULL', { heavyReads }),
    webhooks: relaxed,
    background: relaxed,
    bulk: relaxed,
    fill,
    async migrate(notice = () => {}) {
      const patientDb = openKysely('FULL', { waitMs: START_WAIT_MS });
      if (await migrateToLatest(patientDb, { ...SCHEMA_DIALECTS.sqlite, notice })) await analyze();
    },
    analyze,
    scrub: () => checkpointWal(['passive', 'truncate']),
    // SQLite has one process, so its counters need not be stored or shared.
    rateGate: memoryRateGate,
    ...sqliteDialect,
    // The more changes share a commit, the fewer commits wait for the disk.
    changeTransactions: { pipelined: transaction, waiting: transaction, mostLockWaits: 1, batchSize: 100 },
    // SQLite has one process, so an event emitter is enough. The change is committed, so a listener must not fail the request.
    wake(topic, id) {
      try {
        listeners.emit(topic, id);
      } catch (error) {
        onDatabaseError('wake-up call failed', error);
      }
    },
    onWake(topic, listener) {
      listeners.on(topic, listener);
      return () => void listeners.off(topic, listener);
    },
    openConnections: async () => {},
    blockers: async () => [],
    checkReady: () => saveFact(relaxed, 'ready-check', String(systemClock.now())),
    async close() {
      await Promise.all([db.destroy(), relaxed.destroy(), heavyReads.close()]);
      connections.close();
    },
  };
};

// Analyses the tables that, according to SQLite, grew about tenfold since the last time. An index of a million rows takes up to
// 0.2 s, during which no other connection can write. So each is analysed separately; then a pause lets waiting writers retry.
const analyzeGrown = async (db: Db, heavyReads: HeavyReads): Promise<boolean> => {
  const { rows } = await sql<{ optimize: string }>`pragma optimize(0x10003)`.execute(db);
  const tables = rows.map(({ optimize }) => /"(\w+)"$/.exec(optimize)?.[1] ?? '');
  // In a new database only Kysely's migration tables have grown.
  const grown = tables.filter((table) => !table.startsWith('kysely_'));
  for (const table of grown) {
    const indexes = await sql<{ name: string }>`select name from pragma_index_list(${table})`.execute(db);
    for (const { name } of indexes.rows) {
      await heavyReads.run({ sql: `analyze "${name}"`, parameters: [] });
      await pause(LONGEST_PAUSE_MS + 5);
    }
  }
  // This loads the statistics into this connection, which would otherwise report the same tables again.
  if (grown.length > 0) await sql`analyze sqlite_schema`.execute(db);
  return grown.length > 0;
};

/** Transactions run one after another, since the file has one writer. */
const readThenWrite = (db: Db, { writer }: SqliteConnections, fill: Fill): ReadThenWrite => {
  // This uses the connection of the transaction directly: row by row is cheaper here than one statement with the rows as JSON.
  const insert = ({ table, rows }: Insertion): void => {
    const columns = Object.keys(rows[0] ?? {});
    const marks = columns.map(() => '?');
    const statement = writer.prepare(`insert into ${table} (${columns.join()}) values (${marks.join()})`);
    for (const row of rows) statement.run(Object.values(row));
  };
  // It sets only changed columns, since SQLite rewrites every index of a column that is set, even to the same value.
  const update = ({ updated, rows }: Update): void => {
    for (const { id, set } of rows) {
      const changes = Object.keys(set).map((column) => `${column} = ?`);
      writer.prepare(`update ${updated} set ${changes.join()} where id = ?`).run([...Object.values(set), id]);
    }
  };
  return (reads, decide) =>
    db.transaction().execute(async (trx) => {
      const results: object[][] = [];
      for (const query of reads) results.push((await trx.executeQuery<object>(query)).rows);
      const { writes, result } = decide(results);
      for (const write of writes)
        if ('table' in write) insert(write);
        else if ('updated' in write) update(write);
        else await trx.executeQuery(fill(write.statement, write.values as never));
      return result;
    });
};

/** After a process was killed, the system may need a moment to release its locks. */
const FOLDER_LOCK_TIMEOUT_MS = 1000;

/** These references keep the connections, and so their locks, from being garbage-collected. */
const heldLocks = new Set<Sqlite.Database>();

/**
 * Locks the folder, since rate limits are counted in memory and two processes would count separately (ADR 0001). The lock ends with
 * the process.
 */
export const lockFolder = (folder: string): (() => void) => {
  const file = join(folder, 'handback.lock');
  ensurePrivateFile(file);
  const lock = new Sqlite(file, { timeout: FOLDER_LOCK_TIMEOUT_MS });
  try {
    // Nothing is ever written, so it needs no journal file.
    lock.pragma('journal_mode = MEMORY');
    lock.exec('begin exclusive');
  } catch (error) {
    lock.close();
    if (!isBusy(error)) throw error;
    throw new ConfigError(
      `another Handback process is already using ${folder}. SQLite allows one process: set another DATA_DIR, or DATABASE_URL to use PostgreSQL`,
    );
  }
  heldLocks.add(lock);
  return () => void lock.close();
};
