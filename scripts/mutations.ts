import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, rmSync } from 'node:fs';
import { parseArgs } from 'node:util';

// npm run mutations: changes the service in small ways, and fails if the tests notice too few of the changes. All of it takes a day,
// so `--sample N` changes N lines, drawn by TEST_SEED, and `--only src/webhooks` one folder or file.

const SOURCES = ['contract/**/*.ts', 'src/**/*.ts'];
/** Glue: it wires parts together, describes the API, or needs PostgreSQL or a process of its own, which these tests do not start. */
const GLUE = [
  'src/cli/**',
  'src/app/**',
  'src/platform/start-failure.ts',
  'src/backup/**',
  'src/db/{postgres,migrations}/**',
  'src/db/{migrate,open,schema,transfer}.ts',
  'src/**/{types,services,core,context}.ts',
  'src/api/openapi/**',
  'src/api/pages.ts',
  'src/http/{openapi,built-files}.ts',
  'src/**/routes.ts',
  'src/**/*-routes.ts',
  'src/staff/common-passwords.ts',
];
const ENOUGH_PERCENT = 75;
const FOLDER = 'dist/mutations';
const STRYKER = 'mutations/node_modules/@stryker-mutator/core/bin/stryker.js';
const NOTICED = ['Killed', 'Timeout'];
const MISSED = ['Survived', 'NoCoverage'];
/** Lines that hold nothing to change. */
const EMPTY = /^\s*(import\b|export type\b|type\b|interface\b|\/\/|\/?\*|[\])}>;,]*$)/;

const { values: given } = parseArgs({ options: { only: { type: 'string' }, sample: { type: 'string' } } });
const seed = Number(process.env['TEST_SEED'] ?? 1);

/** A pseudo-random number from 0 to 1 for each call (mulberry32). */
const randomFrom = (start: number) => {
  let state = start;
  return (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

const filesToChange = (): string[] => {
  const glue = new Set(GLUE.flatMap((pattern) => globSync(pattern)));
  const files = SOURCES.flatMap((pattern) => globSync(pattern)).filter((file) => !glue.has(file));
  const { only = '' } = given;
  return files
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.startsWith(only))
    .toSorted();
};

/** `file:line-line`, as Stryker takes it. */
const sampledLines = (files: string[], count: number): string[] => {
  const lines = files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, i) => (EMPTY.test(line) ? [] : `${file}:${i + 1}-${i + 1}`)),
  );
  const random = randomFrom(seed);
  return Array.from({ length: count }, () => lines[Math.floor(random() * lines.length)] as string);
};

/** Stryker is not among the packages of the service: only this script needs it. */
const install = (): void => {
  if (existsSync(STRYKER)) return;
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: 'mutations',
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
};

const run = (mutate: string[]): string[] => {
  const env = { ...process.env, MUTATE: JSON.stringify(mutate) };
  spawnSync(process.execPath, [STRYKER, 'run', 'mutations/stryker.config.mjs'], { stdio: 'inherit', env });
  const report = `${FOLDER}/report.json`;
  if (!existsSync(report)) throw new Error('the run did not finish');
  const { files } = JSON.parse(readFileSync(report, 'utf8')) as {
    files: Record<string, { mutants: { status: string }[] }>;
  };
  return Object.values(files).flatMap(({ mutants }) => mutants.map(({ status }) => status));
};

install();
rmSync(FOLDER, { recursive: true, force: true });
const files = filesToChange();
const statuses = run(given.sample === undefined ? files : sampledLines(files, Number(given.sample)));
const count = (which: string[]) => statuses.filter((status) => which.includes(status)).length;
const [noticed, missed] = [count(NOTICED), count(MISSED)];
const percent = (100 * noticed) / (noticed + missed);
process.stdout.write(
  `${noticed} of ${noticed + missed} mutations noticed, ${percent.toFixed(1)} % (seed ${seed})\n`,
);
if (percent < ENOUGH_PERCENT) process.exitCode = 1;
