import { parentPort, workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { cached } from '../../lib/cached.ts';

// The thread of `heavy-reads.ts`: one connection, one statement at a time. Built as a program of its own.

export interface ThreadQuery {
  sql: string;
  parameters: readonly unknown[];
}

/** An error crosses to the other thread without its class and code. */
export type Reply = { rows: unknown[] } | { failed: { message: string; code: string } };

/** SQLite may wait here: no request runs in this thread. */
const BUSY_TIMEOUT_MS = 1000;

/** Rows to sample for each value of an index's first column. */
const ANALYSIS_LIMIT = 1000;

const connection = new Sqlite(workerData, { fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
connection.pragma('cache_size = -8192');
connection.pragma('synchronous = NORMAL');
connection.pragma(`analysis_limit = ${ANALYSIS_LIMIT}`);

/** Each holds some kilobytes outside of V8's heap, which would not know for thousands of them that it is time to collect. */
const MOST_STATEMENTS = 200;
const statements = new Map<string, Sqlite.Statement<unknown[]>>();

const run = ({ sql, parameters }: ThreadQuery): Reply => {
  try {
    const statement = cached(statements, sql, () => connection.prepare(sql), MOST_STATEMENTS);
    if (statement.reader) return { rows: statement.all(parameters) };
    statement.run(parameters);
    return { rows: [] };
  } catch (error) {
    const { message, code = 'SQLITE_ERROR' } = error as { message: string; code?: string };
    return { failed: { message, code } };
  }
};

parentPort?.on('message', (query: ThreadQuery | 'close') => {
  if (query !== 'close') return parentPort?.postMessage(run(query));
  connection.close();
  parentPort?.close();
});
