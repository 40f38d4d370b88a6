import { setTimeout as pause } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';

/** How long a writer waits for its turn and for other programs (the command line, a backup) before it gives up (decision 100). */
export const BUSY_WAIT_MS = 2000;
const LONGEST_PAUSE_MS = 20;

export const busyError = (): Error => new Sqlite.SqliteError('database is locked', 'SQLITE_BUSY');

const isBusy = (error: unknown): boolean =>
  error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY');

/** Tries again while another program is in the way, until the deadline. The event loop runs on in between. */
export const patiently = async <Result>(
  work: () => Result,
  deadline = performance.now() + BUSY_WAIT_MS,
): Promise<Result> => {
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
    }
    await pause(pauseMs);
  }
};
