import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

// npm run mutations: changes rules of the service in small ways, and fails where the tests notice less than 85 % of that. What is
// changed, and which tests look at it, is in mutations/. Only what was changed since the results that are kept there is tried, and
// nothing where no file was; with `-- --all` everything is.

const RUNS = ['rules', 'stored'];
const ENOUGH_PERCENT = 85;
const FOLDER = 'dist/mutations';
const KEPT = 'mutations/results/kept.json';
/** Whatever may decide what becomes of a mutation. */
const INPUTS = [
  'src/**/*.ts',
  'contract/**/*.ts',
  'test/**/*.ts',
  'mutations/*.{mjs,ts,json}',
  'package-lock.json',
];
const ALL = process.argv.includes('--all');
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
  spawnSync(process.execPath, [STRYKER, 'run', `mutations/${run}.config.mjs`, ...(ALL ? ['--force'] : [])], {
    stdio: 'inherit',
  });
  const report = `${FOLDER}/${run}.json`;
  if (!existsSync(report)) return [];
  tidy(`mutations/results/${run}.json`);
  const { files } = JSON.parse(readFileSync(report, 'utf8')) as {
    files: Record<string, { mutants: { status: string }[] }>;
  };
  return Object.values(files).flatMap(({ mutants }) => mutants.map(({ status }) => status));
};

interface Tried {
  found: number;
  all: number;
}

/** What comes of them; null where a run did not come to its end. */
const tryAll = (): Tried | null => {
  install();
  rmSync(FOLDER, { recursive: true, force: true });
  const fates = RUNS.map(fatesOf);
  if (fates.some(({ length }) => length === 0)) return null;
  const count = (which: string[]) => fates.flat().filter((fate) => which.includes(fate)).length;
  return { found: count(FOUND), all: count(FOUND) + count(MISSED) };
};

const hashOfInputs = (): string => {
  const hash = createHash('sha256');
  for (const file of globSync(INPUTS).sort())
    hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
  return hash.digest('hex');
};

/** The same for the same files, so it need not be done again. */
const keptOrTried = (): Tried | null => {
  const inputs = hashOfInputs();
  const kept = existsSync(KEPT)
    ? (JSON.parse(readFileSync(KEPT, 'utf8')) as Tried & { inputs: string })
    : null;
  if (!ALL && kept?.inputs === inputs) return kept;
  const tried = tryAll();
  if (tried) writeFileSync(KEPT, `${JSON.stringify({ inputs, ...tried })}\n`);
  return tried;
};

const tried = keptOrTried();
const percent = tried?.all ? (100 * tried.found) / tried.all : 0;
const figure = `${tried?.found ?? 0} of ${tried?.all ?? 0} mutations found, ${percent.toFixed(1)} %`;
process.stdout.write(`${figure}\n`);
const figures = process.env['FAULTS_FIGURES'];
if (figures) appendFileSync(figures, `${JSON.stringify({ row: 21, engine: '', figure })}\n`);
if (percent < ENOUGH_PERCENT) process.exitCode = 1;
