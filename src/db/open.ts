import { accessSync, chmodSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Config } from '../service/config.ts';
import type { Database, Observer } from './database.ts';
import type { Notice } from './migrate.ts';
import { openPostgres } from './postgres/open.ts';
import { between } from './postgres/pooler.ts';
import { fillPostgres, postgresSnapshot } from './postgres/postgres-transfer.ts';
import { lockFolder } from './sqlite/connections.ts';
import { openSqlite } from './sqlite/open.ts';
import { fillSqlite, sqliteSnapshot } from './sqlite/sqlite-transfer.ts';
import type { Between, FillAtOnce, WithSnapshot } from './transfer.ts';

type Where = Pick<Config, 'databaseUrl' | 'dataDir'>;

export const openDatabase = (
  { databaseUrl, dataDir, poolSizes }: Where & Pick<Config, 'poolSizes'>,
  observer: Observer,
  ownClock?: () => number,
): Database => {
  if (databaseUrl) return openPostgres(databaseUrl, poolSizes, observer, ownClock);
  prepareFolder(dataDir);
  return openSqlite(fileIn(dataDir), observer);
};

const fileIn = (dataDir: string): string => join(dataDir, 'handback.sqlite');

/** To read a whole database, which is neither created nor migrated, while others use it. */
export const snapshotOf = ({ databaseUrl, dataDir }: Where, statementTimeoutMs?: number): WithSnapshot =>
  databaseUrl ? postgresSnapshot(databaseUrl, statementTimeoutMs) : sqliteSnapshot(fileIn(dataDir));

/** Which pooler stands before the server; null: there is no server. */
export const betweenUsAnd = async ({ databaseUrl }: Where): Promise<Between | null> =>
  databaseUrl ? between(databaseUrl) : null;

export const fillingOf = ({ databaseUrl, dataDir }: Where, notice: Notice): FillAtOnce =>
  databaseUrl ? fillPostgres(databaseUrl, notice) : fillSqlite(fileIn(dataDir));

/** For a process that serves, until it ends or releases it: on SQLite there may be only one. Commands work beside it. */
export const claimDatabase = ({ databaseUrl, dataDir }: Where): { isTheOnly: boolean; release(): void } => {
  if (databaseUrl) return { isTheOnly: false, release() {} };
  prepareFolder(dataDir);
  return { isTheOnly: true, release: lockFolder(dataDir) };
};

const prepareFolder = (path: string): void => {
  makeFolder(path);
  accessSync(path, constants.W_OK);
};

/** Folder by folder: Node's own recursive way never ends where a file system takes no folders. */
const makeFolder = (path: string): void => {
  if (!existsSync(dirname(path))) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
    chmodSync(path, 0o700);
  } catch (error) {
    // There already, perhaps by another process that starts at the same time.
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder) throw error;
  }
};
