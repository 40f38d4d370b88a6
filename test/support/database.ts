import { onTestFinished } from 'vitest';
import { CHANGES } from '../../src/db/migrate.ts';
import type { SchemaChange } from '../../src/db/migrations/types.ts';
import { openDatabase } from '../../src/db/open.ts';
import type { Database, Db } from '../../src/db/types.ts';
import { readConfig } from '../../src/platform/config.ts';
import { type Env, migratedDatabase } from './process.ts';
import { UNOBSERVED } from './unobserved.ts';

// An engine by itself, with nothing of the service above it, until the test ends.

export const openOn = (env: Env): Database => {
  const database = openDatabase(readConfig(env), UNOBSERVED);
  onTestFinished(() => database.close());
  return database;
};

export const openEngine = async (): Promise<Database> => {
  const database = openOn(await migratedDatabase());
  await database.migrate();
  return database;
};

/** Until the test ends, this process is a later release, which has one more migration. */
export const addMigration = (name: string, change: SchemaChange): void => {
  CHANGES[name] = change;
  onTestFinished(() => {
    delete CHANGES[name];
  });
};

export const holdConnections = async (...pools: Db[]): Promise<() => Promise<void>> => {
  const ended = Promise.withResolvers<void>();
  const held = await Promise.all(
    pools.map(
      (db) =>
        new Promise<{ released: Promise<void> }>((resolve) => {
          const released = db.connection().execute(() => {
            resolve({ released });
            return ended.promise;
          });
        }),
    ),
  );
  return async () => {
    ended.resolve();
    await Promise.all(held.map(({ released }) => released));
  };
};
