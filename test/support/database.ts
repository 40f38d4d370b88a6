import { onTestFinished } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open.ts';
import { readConfig } from '../../src/service/config.ts';
import { migratedDatabase } from './process.ts';
import { UNOBSERVED } from './unobserved.ts';

/** An engine by itself, with nothing of the house above it, until the test ends. */
export const openEngine = async (): Promise<Database> => {
  const database = openDatabase(readConfig(await migratedDatabase()), UNOBSERVED);
  onTestFinished(() => database.close());
  await database.migrate();
  return database;
};
