import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Config } from '../config.ts';
import type { Database, OnQuery } from './database.ts';
import { openPostgres } from './postgres.ts';
import { openSqlite } from './sqlite/open.ts';

export const openDatabase = (config: Pick<Config, 'databaseUrl' | 'dataDir'>, onQuery: OnQuery): Database => {
  if (config.databaseUrl) return openPostgres(config.databaseUrl, onQuery);
  makeFolder(config.dataDir);
  accessSync(config.dataDir, constants.W_OK);
  return openSqlite(join(config.dataDir, 'handback.sqlite'), onQuery);
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
