import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Config } from '../config.ts';
import type { Database, Observer } from './database.ts';
import { openPostgres } from './postgres/open.ts';
import { openSqlite } from './sqlite.ts';

export const openDatabase = (
  { databaseUrl, dataDir, poolSizes }: Pick<Config, 'databaseUrl' | 'dataDir' | 'poolSizes'>,
  observer: Observer,
  ownClock?: () => number,
): Database => {
  if (databaseUrl) return openPostgres({ connectionString: databaseUrl, poolSizes, ownClock }, observer);
  makeFolder(dataDir);
  accessSync(dataDir, constants.W_OK);
  return openSqlite(join(dataDir, 'handback.sqlite'), observer);
};

/** Folder by folder: Node's own recursive way never ends where a file system takes no folders. */
const makeFolder = (path: string): void => {
  if (!existsSync(dirname(path))) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // There already, perhaps by another process that starts at the same time.
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder) throw error;
  }
};
