import type { TestProject } from 'vitest/node';
import { readConfig } from '../../src/config.ts';
import { openDatabase } from '../../src/db/open.ts';
import { onServer } from './postgres-databases.ts';
import { startPostgres } from './postgres-server.ts';
import { UNOBSERVED } from './unobserved.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string;
  }
}

/** One server for the whole run and one migrated template; each test gets a copy of it. */
export default async function setup(project: TestProject) {
  const server = await startPostgres();
  await onServer(server.url, 'create database handback_template');
  const databaseUrl = server.url.replace(/\/postgres$/, '/handback_template');
  const database = openDatabase(
    readConfig({ DATABASE_URL: databaseUrl, SECRET_KEY: 'x'.repeat(32) }),
    UNOBSERVED,
  );
  await database.migrate();
  await database.close();
  project.provide('postgresUrl', server.url);
  return server.stop;
}
