import { parentPort, workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { cached } from '../../lib/cached.ts';

// The worker thread of `heavy-reads.ts`: one connection that runs one statement at a time. It is built as a separate program.

export interface ThreadQuery {
  sql: string;
  parameters: readonly unknown[];
}

/** An error loses its class and code on the way to the other thread, so they are sent as fields. */
export type Reply = { rows: unknown[] } | { failed: { message: string; code: string } };

/** SQLite may wait here, since no request runs in this thread. */
const BUSY_TIMEOUT_MS = 1000;

/** The number of rows to sample for each value of an index's first column. */
const ANALYSIS_LIMIT = 1000;

const connection = new Sqlite(workerData, { fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
connection.pragma('cache_size = -8192');
connection.pragma('synchronous = NORMAL');
connection.pragma(`analysis_limit = ${ANALYSIS_LIMIT}`);

/** Each statement holds some kilobytes outside V8's heap, so V8 would not notice that it should collect thousands of them. */
const MOST_STATEMENTS = 200;
const preparedStatements = new Map<string, Sqlite.Statement<unknown[]>>();

const runQuery = ({ sql, parameters }: ThreadQuery): Reply => {
  try {
    const statement = cached(preparedStatements, sql, () => connection.prepare(sql), MOST_STATEMENTS);
    if (statement.reader) return { rows: statement.all(parameters) };
    statement.run(parameters);
    return { rows: [] };
  } catch (error) {
    const { message, code = 'SQLITE_ERROR' } = error as { message: string; code?: string };
    return { failed: { message, code } };
  }
};

parentPort?.on('message', (query: ThreadQuery | 'close') => {
  if (query !== 'close') return parentPort?.postMessage(runQuery(query));
  connection.close();
  parentPort?.close();
});
