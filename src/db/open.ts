import { join } from 'node:path';
import { ensurePrivateFolder } from '../lib/private-files.ts';
import { poolerModeOf } from './postgres/hosts.ts';
import { openPostgres } from './postgres/open.ts';
import { lockFolder, openSqlite } from './sqlite/open.ts';
import type { Database, Observer, PoolerMode, PoolSizes } from './types.ts';

/** PostgreSQL at this address or, without one, SQLite in this folder. */
export interface DatabaseLocation {
  databaseUrl: string | null;
  dataDir: string;
}

export const openDatabase = (
  { databaseUrl, dataDir, poolSizes }: DatabaseLocation & { poolSizes: PoolSizes },
  observer: Observer,
  ownClock?: () => number,
): Database => {
  if (databaseUrl) return openPostgres(databaseUrl, poolSizes, observer, ownClock);
  ensurePrivateFolder(dataDir);
  return openSqlite(fileIn(dataDir), observer);
};

export const fileIn = (dataDir: string): string => join(dataDir, 'handback.sqlite');

/** Returns null for SQLite, which has no server. */
export const detectPooler = async ({ databaseUrl }: DatabaseLocation): Promise<PoolerMode | null> =>
  databaseUrl ? poolerModeOf(databaseUrl) : null;

/** Locks the database for a process that serves, until it ends or releases it: SQLite allows only one. Commands need no lock. */
export const lockDatabase = ({
  databaseUrl,
  dataDir,
}: DatabaseLocation): { exclusive: boolean; release(): void } => {
  if (databaseUrl) return { exclusive: false, release() {} };
  ensurePrivateFolder(dataDir);
  return { exclusive: true, release: lockFolder(dataDir) };
};
