import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { openDatabase } from '../../src/db/open.ts';
import { readConfig } from '../../src/platform/config.ts';
import { newFolder } from './folders.ts';
import { UNOBSERVED } from './unobserved.ts';

declare module 'vitest' {
  interface ProvidedContext {
    sqliteTemplate: string;
  }
}

/** One migrated file for the whole run; each test gets a copy of it. */
export default async function setup(project: TestProject) {
  const folder = newFolder();
  const database = openDatabase(readConfig({ DATA_DIR: folder, SECRET_KEY: 'x'.repeat(32) }), UNOBSERVED);
  await database.migrate();
  await database.close();
  project.provide('sqliteTemplate', join(folder, 'handback.sqlite'));
  return () => rmSync(folder, { recursive: true, force: true });
}
