import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { ConfigError } from '../../config.ts';
import { keepPrivate } from '../private-file.ts';

/** A process that was just killed may need a moment until the system has let go of its locks. */
const WAIT_MS = 1000;

/** A connection that nothing refers to would be closed, and its lock with it. */
const held = new Set<Sqlite.Database>();

/**
 * Makes this process the only one that serves from the folder: rate limits are counted in memory, and two would count twice
 * (ADR 0001). The lock is the operating system's and ends with the process, however it ends, or when it is released.
 */
export const lockFolder = (folder: string): (() => void) => {
  const file = join(folder, 'handback.lock');
  keepPrivate(file);
  const lock = new Sqlite(file, { timeout: WAIT_MS });
  try {
    // Nothing is ever written, so no journal is needed beside it.
    lock.pragma('journal_mode = MEMORY');
    lock.exec('begin exclusive');
  } catch (error) {
    lock.close();
    if (!(error instanceof Sqlite.SqliteError) || !error.code.startsWith('SQLITE_BUSY')) throw error;
    throw new ConfigError(
      `another Handback serves from ${folder} already: SQLite is for one process (DATA_DIR, or DATABASE_URL for many)`,
    );
  }
  held.add(lock);
  return () => {
    held.delete(lock);
    lock.close();
  };
};
