// Changes the service in small ways, one at a time, and runs the tests that cover the change. It works on a copy below dist/, so a
// run that is broken off leaves nothing behind in the source. scripts/mutations.ts says what is changed (MUTATE).

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  testRunner: 'vitest',
  vitest: { configFile: 'mutations/vitest.config.ts', related: false },
  mutate: JSON.parse(process.env.MUTATE ?? '[]'),
  // Stryker would read tsconfig.json with an interface that TypeScript 7 does not have.
  ignorePatterns: ['dist/mutations', 'dist/release', 'data', 'test-results', 'tsconfig.json'],
  tempDirName: 'dist/mutations/copy',
  jsonReporter: { fileName: 'dist/mutations/report.json' },
  reporters: ['json', 'clear-text', 'progress-append-only'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false, reportScoreTable: false },
  coverageAnalysis: 'perTest',
  // Code that runs when a file is loaded (tables, schemas) is covered by every test: each such mutant would run all of them.
  ignoreStatic: true,
  dryRunTimeoutMinutes: 60,
  concurrency: 2,
  timeoutMS: 20_000,
  timeoutFactor: 2,
};
