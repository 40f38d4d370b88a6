import type { TestProject } from 'vitest/node';
import { openDatabase } from '../../src/db/open.ts';
import { readConfig } from '../../src/platform/config.ts';
import { prepareServer } from './postgres-databases.ts';
import { startPostgres } from './postgres-server.ts';
import { UNOBSERVED } from './unobserved.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string;
  }
}

/** One server for the whole run and one migrated template; each test gets a copy of it, or one that another test is done with. */
export default async function setup(project: TestProject) {
  const server = await startPostgres();
  await prepareServer(server.url, async (url) => {
    const database = openDatabase(readConfig({ DATABASE_URL: url, SECRET_KEY: 'x'.repeat(32) }), UNOBSERVED);
    await database.migrate();
    await database.close();
  });
  project.provide('postgresUrl', server.url);
  return server.stop;
}
