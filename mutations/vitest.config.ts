import { globSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { measureSlowness, scaled } from '../test/support/until.ts';

process.env['TEST_SLOWNESS'] ??= measureSlowness().toFixed(1);

const EXCLUDED = [
  // They test the admin app, or read sources as text.
  'test/unit/{admin-*,documents,first-load,released}.test.ts',
  // They depend on how long work takes, which the changes that are switched off prolong.
  'test/api/{large-*,connections,public-path,docs}.test.ts',
  'test/unit/batch.test.ts',
  'test/admin/{heavy-reads,provider}.test.ts',
];
/** Stryker writes a line of its own before the first one. */
const onlyOnPostgres = (file: string): boolean =>
  /^\/\/ engines: postgres$/m.test(readFileSync(file, 'utf8'));

// The tests that need neither a browser nor another process, on SQLite. Those of the command line start processes, which load the
// sources without the change.
export default defineConfig({
  test: {
    include: ['test/{unit,api,admin,webhooks,store}/**/*.test.ts'],
    exclude: [...EXCLUDED, ...globSync('test/**/*.test.ts').filter(onlyOnPostgres)],
    env: { ENGINE: 'sqlite' },
    globalSetup: ['test/support/sqlite-setup.ts'],
    setupFiles: ['test/support/setup.ts'],
    testTimeout: scaled(120_000),
    hookTimeout: scaled(120_000),
    expect: { poll: { timeout: scaled(30_000) } },
    isolate: false,
  },
});
