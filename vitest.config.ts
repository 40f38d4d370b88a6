import { randomInt } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';
import { ClosingReporter } from './test/support/reporter.ts';
import { measureSlowness, scaled } from './test/support/until.ts';

// Which tests run: `npm test` those of FIRST; mode `rest` (`npm run test:rest`) the others and all of the browser; mode `ci` is `rest`
// without LASTING, for what must end within 20 minutes; mode `all` (`npm run test:all`) everything.
// On which engines: SQLite, unless the first line of the file names others, as in `// engines: sqlite, postgres`. A file runs on both
// where the engines may differ: concurrency, locks, transactions, SQL of their own, clocks, clean-up.

const FIRST = /^test\/(unit|api|admin|webhooks|store|cli|browser\/journeys)\//;
/** The faults of docs/reliability.md, in short form, and other outages and loads that last a minute a test. */
const LASTING = /^test\/faults\/(rows|lasting)\//;

const isInMode = (file: string, mode: string): boolean => {
  if (mode === 'test') return FIRST.test(file);
  const isRest = !FIRST.test(file) || file.startsWith('test/browser/');
  return mode === 'all' || (isRest && !(mode === 'ci' && LASTING.test(file)));
};

const projectsOf = (file: string): string[] => {
  const [, folder = ''] = file.split('/');
  if (['browser', 'unit'].includes(folder)) return [folder];
  return /^\/\/ engines: (.+)/.exec(readFileSync(file, 'utf8'))?.[1]?.split(', ') ?? ['sqlite'];
};

export default defineConfig(({ mode }) => {
  process.env['TEST_SLOWNESS'] ??= measureSlowness().toFixed(1);
  if (process.env['TEST_SEED'] === 'random') {
    process.env['TEST_SEED'] = String(randomInt(1_000_000));
    process.stdout.write(`seed of this run: TEST_SEED=${process.env['TEST_SEED']}\n`);
  }
  const files = globSync('test/**/*.test.ts').map((file) => file.replaceAll('\\', '/'));
  const ofProject = (project: string): string[] =>
    files.filter((file) => isInMode(file, mode) && projectsOf(file).includes(project));
  return {
    test: {
      testTimeout: scaled(120_000),
      hookTimeout: scaled(120_000),
      expect: { poll: { timeout: scaled(30_000) } },
      // For two cores: the suites start servers and databases of their own, and a third of them waits for time to pass.
      maxWorkers: 4,
      sequence: { sequencer: LongestFirst },
      setupFiles: ['test/support/setup.ts'],
      // No suite keeps anything that another one sees, and loading the service again for each would take a third of the time.
      isolate: false,
      reporters: [['default', { summary: false }], new ClosingReporter()],
      // A long difference would push the reason of a failure off the screen.
      diff: { expand: false, truncateThreshold: 40 },
      projects: [
        {
          extends: true,
          test: {
            name: 'sqlite',
            include: ofProject('sqlite'),
            env: { ENGINE: 'sqlite' },
            globalSetup: ['test/support/build-setup.ts', 'test/support/sqlite-setup.ts'],
          },
        },
        {
          extends: true,
          test: {
            name: 'postgres',
            include: ofProject('postgres'),
            env: { ENGINE: 'postgres' },
            globalSetup: ['test/support/build-setup.ts', 'test/support/postgres-setup.ts'],
          },
        },
        {
          extends: true,
          test: {
            name: 'browser',
            include: ofProject('browser'),
            env: { ENGINE: 'sqlite', SAME_ADDRESS: 'yes' },
            globalSetup: [
              'test/support/build-setup.ts',
              'test/support/sqlite-setup.ts',
              'test/support/browser-setup.ts',
            ],
            setupFiles: ['test/support/browser-needed.ts'],
          },
        },
        {
          extends: true,
          test: {
            name: 'unit',
            include: ofProject('unit'),
            globalSetup: 'test/support/build-setup.ts',
          },
        },
      ],
    },
  };
});
