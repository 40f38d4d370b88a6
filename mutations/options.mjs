// What both runs share. Each changes its files in small ways, one at a time, and sees whether a test of its own fails. It works on
// a copy below dist/, so a run that is broken off leaves nothing behind in the source.

/**
 * @param {string} name
 * @param {string[]} mutate
 * @returns {import('@stryker-mutator/api/core').PartialStrykerOptions}
 */
export const optionsFor = (name, mutate) => ({
  testRunner: 'vitest',
  vitest: { configFile: `mutations/${name}.vitest.config.ts`, related: false },
  mutate,
  // Only what the tests read.
  ignorePatterns: [
    '**',
    '!contract/**',
    '!src/**',
    '!test/**',
    `!mutations/${name}.vitest.config.ts`,
    '!package.json',
  ],
  tempDirName: `dist/mutations/${name}`,
  jsonReporter: { fileName: `dist/mutations/${name}.json` },
  reporters: ['json', 'clear-text', 'progress-append-only'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  coverageAnalysis: 'perTest',
  concurrency: 2,
  timeoutMS: 10_000,
  timeoutFactor: 2,
});
