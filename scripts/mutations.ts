import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

// npm run mutations: changes rules of the service in small ways, and fails where the tests notice less than 85 % of that. What is
// changed, and which tests look at it, is in mutations/. Only what was changed since the results that are kept there is tried; with
// `-- --all` everything is.

const RUNS = ['rules', 'stored'];
const ENOUGH_PERCENT = 85;
const FOLDER = 'dist/mutations';
const ALL = process.argv.includes('--all') ? ['--force'] : [];
const STRYKER = 'mutations/node_modules/@stryker-mutator/core/bin/stryker.js';
const FOUND = ['Killed', 'Timeout'];
const MISSED = ['Survived', 'NoCoverage'];

/** Its packages are its own: nobody needs them who only works on the service. */
const install = (): void => {
  if (existsSync(STRYKER)) return;
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: 'mutations',
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
};

/** Leaves out of the results that are kept what is of this machine: paths, stacks of errors. */
const tidy = (file: string): void => {
  const { schemaVersion, thresholds, files, testFiles } = JSON.parse(
    readFileSync(file, 'utf8'),
    (name, value) => (name === 'statusReason' ? undefined : value),
  );
  writeFileSync(file, `${JSON.stringify({ schemaVersion, thresholds, files, testFiles })}\n`);
};

/** The fates of all changes that one run made; none where it did not come to its end. */
const fatesOf = (run: string): string[] => {
  spawnSync(process.execPath, [STRYKER, 'run', `mutations/${run}.config.mjs`, ...ALL], { stdio: 'inherit' });
  const report = `${FOLDER}/${run}.json`;
  if (!existsSync(report)) return [];
  tidy(`mutations/results/${run}.json`);
  const { files } = JSON.parse(readFileSync(report, 'utf8')) as {
    files: Record<string, { mutants: { status: string }[] }>;
  };
  return Object.values(files).flatMap(({ mutants }) => mutants.map(({ status }) => status));
};

install();
rmSync(FOLDER, { recursive: true, force: true });
const fates = RUNS.map(fatesOf);
const found = fates.flat().filter((fate) => FOUND.includes(fate)).length;
const all = found + fates.flat().filter((fate) => MISSED.includes(fate)).length;
const percent = all === 0 ? 0 : (100 * found) / all;
const figure = `${found} of ${all} mutations found, ${percent.toFixed(1)} %`;
process.stdout.write(`${figure}\n`);
const figures = process.env['FAULTS_FIGURES'];
if (figures) appendFileSync(figures, `${JSON.stringify({ row: 21, engine: '', figure })}\n`);
const isWhole = fates.every(({ length }) => length > 0);
if (!isWhole || percent < ENOUGH_PERCENT) process.exitCode = 1;
