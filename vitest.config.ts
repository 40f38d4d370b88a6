import { randomInt } from 'node:crypto';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';
import { ClosingReporter } from './test/support/reporter.ts';
import { measureSlowness, scaled } from './test/support/until.ts';

// `npm test`: what a change must not break. `npm run test:all` (mode `all`) adds faults, recipes, documentation,
// deployment and the rest of the browser; mode `rest` runs these alone, with all of the browser; mode `ci`
// is `rest` without the rows of docs/reliability.md and what else lasts a minute a test, for what must end within 20 minutes.

const tests = (...names: string[]): string[] => names.map((name) => `test/${name}.test.ts`);

const FIRST = tests('{api,admin,webhooks,store,cli}/**/*');
const LATER = tests('{faults,recipes,docs,deploy}/**/*');
/** The rows of docs/reliability.md, in short form, and other outages and loads that last. */
const LASTING = tests('faults/rows/*', 'faults/{backups,database-away,erasing,feed,locks,webhooks}');
const JOURNEYS = tests('browser/journeys/*');

/** What only PostgreSQL has: a network in between, poolers, standbys, several processes. */
const ONLY_POSTGRES = tests(
  'store/{pools,schemas}',
  'deploy/{empty-machine,processes,proxy}',
  'faults/{clocks,database-away,database-tls,doctor,failover,locks,poolers}',
  'faults/rows/03-*',
);

/**
 * Where the engines may differ: concurrency, locks, transactions, SQL of their own, clocks, clean-up. All else runs on SQLite, and
 * so do tests of these files that ask for the same statements with other values, or for none: `if (ENGINE === 'sqlite')`.
 */
const BOTH_ENGINES = tests(
  'store/*',
  'api/{allowance,dangerous-goods,dry-run,events,gathered,idempotency,large-answers,list-plans,lists,rate-limits,receipts,rights,timeline,trade-moves}',
  'admin/{client-settings,corrections,former-employees,links,lock-out,personal-data,proof,provider,replace-client,returns,search,second-factor,session,today,users,waiting,workbench}',
  'webhooks/{chosen-events,clocks,dropping,failing-receivers,own-deliveries,queue,recipients,replaced-clients}',
  'cli/{backup,backup-schedule,beside-the-server,restore,secrets,shop-delete,status}',
  'faults/{backups,dry-run-bodies,erasing,feed,operations,start,webhooks}',
  'faults/rows/{01,02,04,05,06,09,12,13,14,15,16,17,18,19,20}-*',
);

export default defineConfig(({ mode }) => {
  process.env['TEST_SLOWNESS'] ??= measureSlowness().toFixed(1);
  if (process.env['TEST_SEED'] === 'random') {
    process.env['TEST_SEED'] = String(randomInt(1_000_000));
    process.stdout.write(`seed of this run: TEST_SEED=${process.env['TEST_SEED']}\n`);
  }
  const otherTier = { test: LATER, rest: FIRST, ci: [...FIRST, ...LASTING] }[mode] ?? [];
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
            include: [...FIRST, ...LATER],
            exclude: [...ONLY_POSTGRES, ...otherTier],
            env: { ENGINE: 'sqlite' },
            globalSetup: ['test/support/build-setup.ts', 'test/support/sqlite-setup.ts'],
          },
        },
        {
          extends: true,
          test: {
            name: 'postgres',
            include: [...BOTH_ENGINES, ...ONLY_POSTGRES],
            exclude: otherTier,
            env: { ENGINE: 'postgres' },
            globalSetup: ['test/support/build-setup.ts', 'test/support/postgres-setup.ts'],
          },
        },
        {
          extends: true,
          test: {
            name: 'browser',
            include: mode === 'test' ? JOURNEYS : tests('browser/**/*'),
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
            include: tests('unit/**/*'),
            exclude: mode === 'rest' || mode === 'ci' ? tests('unit/**/*') : [],
            globalSetup: 'test/support/build-setup.ts',
          },
        },
      ],
    },
  };
});
