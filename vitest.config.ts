import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

const BOTH_ENGINES = [
  'test/api/**/*.test.ts',
  'test/admin/**/*.test.ts',
  'test/webhooks/**/*.test.ts',
  'test/store/**/*.test.ts',
  'test/faults/**/*.test.ts',
  'test/cli/**/*.test.ts',
  'test/recipes/**/*.test.ts',
  'test/docs/**/*.test.ts',
];

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // How long a condition is waited for; on a machine that is busy with other suites a page may take seconds.
    expect: { poll: { timeout: 10_000 } },
    // For two cores: the suites start servers and databases of their own, and a third of them waits for time to pass.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    // No suite keeps anything that another one sees, and loading the service again for each would take a third of the time.
    isolate: false,
    projects: [
      {
        extends: true,
        test: {
          name: 'sqlite',
          include: BOTH_ENGINES,
          env: { ENGINE: 'sqlite' },
          globalSetup: ['test/support/build-setup.ts', 'test/support/sqlite-setup.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: BOTH_ENGINES,
          // These know of no engine: commands (that they work on this one, beside servers, is seen in beside-the-server), sockets,
          // files, documents, recipes, log lines, what receivers answer, and which addresses may be called.
          exclude: [
            'test/cli/commands.test.ts',
            'test/cli/events.test.ts',
            'test/cli/forward.test.ts',
            'test/cli/trigger.test.ts',
            'test/cli/listen.test.ts',
            'test/api/connections.test.ts',
            'test/api/docs.test.ts',
            'test/api/openapi.test.ts',
            'test/faults/greedy-readers.test.ts',
            'test/webhooks/answer-limit.test.ts',
            'test/webhooks/verification-examples.test.ts',
            'test/recipes/**',
            'test/docs/**',
            'test/faults/logs.test.ts',
            // With `npm run faults` on both all the same.
            ...(process.env['FAULTS'] === 'full' ? [] : ['test/faults/rows/08-inside-addresses.test.ts']),
          ],
          env: { ENGINE: 'postgres' },
          globalSetup: ['test/support/build-setup.ts', 'test/support/postgres-setup.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          env: { ENGINE: 'sqlite', SAME_ADDRESS: 'yes' },
          globalSetup: ['test/support/sqlite-setup.ts', 'test/support/browser-setup.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          globalSetup: 'test/support/build-setup.ts',
        },
      },
    ],
  },
});
