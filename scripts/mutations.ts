import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';

// npm run mutations: changes rules of the service in small ways, and fails where the tests notice less than 85 % of that. What is
// changed, and which tests look at it, is in mutations/.

const RUNS = ['rules', 'stored'];
const ENOUGH_PERCENT = 85;
const FOLDER = 'dist/mutations';
const STRYKER = 'mutations/node_modules/@stryker-mutator/core/bin/stryker.js';
const FOUND = ['Killed', 'Timeout'];
const MISSED = ['Survived', 'NoCoverage'];

/** Its packages are its own: work on the service does not need them. */
const install = (): void => {
  if (existsSync(STRYKER)) return;
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: 'mutations',
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
};

/** The fates of all changes that one run made. */
const fatesOf = (run: string): string[] => {
  spawnSync(process.execPath, [STRYKER, 'run', `mutations/${run}.config.mjs`], { stdio: 'inherit' });
  const report = `${FOLDER}/${run}.json`;
  if (!existsSync(report)) throw new Error(`the run ${run} did not come to its end`);
  const { files } = JSON.parse(readFileSync(report, 'utf8')) as {
    files: Record<string, { mutants: { status: string }[] }>;
  };
  return Object.values(files).flatMap(({ mutants }) => mutants.map(({ status }) => status));
};

install();
rmSync(FOLDER, { recursive: true, force: true });
const fates = RUNS.flatMap(fatesOf);
const count = (which: string[]) => fates.filter((fate) => which.includes(fate)).length;
const [found, missed] = [count(FOUND), count(MISSED)];
const percent = (100 * found) / (found + missed);
process.stdout.write(`${found} of ${found + missed} mutations found, ${percent.toFixed(1)} %\n`);
if (percent < ENOUGH_PERCENT) process.exitCode = 1;
