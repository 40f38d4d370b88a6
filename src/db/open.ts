import { accessSync, constants, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { Database, OnQuery } from './database.ts';
import { openPostgres } from './postgres.ts';
import { openSqlite } from './sqlite.ts';

export const openDatabase = (config: Pick<Config, 'databaseUrl' | 'dataDir'>, onQuery: OnQuery): Database => {
  if (config.databaseUrl) return openPostgres(config.databaseUrl, onQuery);
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  accessSync(config.dataDir, constants.W_OK);
  return openSqlite(join(config.dataDir, 'handback.sqlite'), onQuery);
};
