import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { FAULT_ROWS, type FaultRow } from './fault-rows.ts';

// npm run faults [-- 1 5 9]: does what docs/reliability.md lists, and writes its table from what came out. A run of some rows
// writes these, and leaves the others as they were.

const FOLDER = 'dist/faults';
const FIGURES = `${FOLDER}/figures.jsonl`;
const PAGE = 'docs/reliability.md';
const TABLE = /(<!-- the table: npm run faults -->\n)[\s\S]*?(<!-- end of the table -->)/;
/** Rows that wait more than they work share the machine. */
const AT_ONCE = 6;

const numberOf = (file: string): number => Number(/rows\/(\d+)-/.exec(file.replaceAll('\\', '/'))?.[1]);
const nameOf = (row: number): string => `test/faults/rows/${String(row).padStart(2, '0')}-`;

interface Tested {
  row: number;
  passed: number;
  failures: string[];
}

/** Runs the rows' suites on both engines, so many at a time. */
const runRows = async (name: string, rows: readonly FaultRow[], workers: number): Promise<Tested[]> => {
  if (rows.length === 0) return [];
  const report = `${FOLDER}/${name}.json`;
  const args = ['vitest', 'run', '--mode', 'all', '--project', 'sqlite', '--project', 'postgres'];
  const output = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const filters = rows.map(({ row }) => nameOf(row));
  await new Promise((resolve) => {
    spawn('npx', [...args, `--maxWorkers=${workers}`, ...output, ...filters], {
      env: { ...process.env, FAULTS: 'full', FAULTS_FIGURES: FIGURES },
      stdio: 'inherit',
      shell: process.platform === 'win32',
    }).once('close', resolve);
  });
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
    testResults: {
      name: string;
      status: string;
      assertionResults: { status: string; fullName: string }[];
    }[];
  };
  return testResults.map(({ name: file, status, assertionResults }) => {
    const failures = assertionResults.filter((each) => each.status === 'failed');
    return {
      row: numberOf(file),
      passed: assertionResults.filter((each) => each.status === 'passed').length,
      // A file that could not even be read has no tests that failed.
      failures:
        status === 'failed' && failures.length === 0 ? [file] : failures.map(({ fullName }) => fullName),
    };
  });
};

interface Figure {
  row: number;
  engine: string;
  figure: string;
}

const readFigures = (): Figure[] =>
  readFileSync(FIGURES, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

const ENGINE_NAMES: Record<string, string> = { sqlite: 'SQLite', postgres: 'PostgreSQL' };

/** `SQLite: 100 kills … PostgreSQL: 100 kills …`; what both say alike is said once. */
const figuresOf = (row: number, figures: Figure[]): string => {
  const own = figures.filter((each) => each.row === row);
  const texts = [...new Set(own.map(({ figure }) => figure))];
  return texts
    .map((text) => {
      const engines = [...new Set(own.filter(({ figure }) => figure === text).map(({ engine }) => engine))];
      const engine = ENGINE_NAMES[engines[0] ?? ''];
      return engines.length === 1 && engine ? `${engine}: ${text}` : text;
    })
    .join('<br>');
};

const verdictOf = (row: number, tested: Tested[]): string => {
  const own = tested.filter((each) => each.row === row);
  if (own.every(({ passed, failures }) => passed === 0 && failures.length === 0)) return 'not run';
  return own.some(({ failures }) => failures.length > 0) ? '**does not hold**' : 'holds';
};

const WHEN = new Date().toISOString().slice(0, 10);

/** The table's lines as they were, by the number of their row. */
const linesOf = (page: string): Map<number, string> =>
  new Map([...page.matchAll(/^\| (\d+) \|.*$/gm)].map(([line, row]) => [Number(row), line]));

const writeTable = (made: Map<number, string>): void => {
  const page = readFileSync(PAGE, 'utf8');
  const before = linesOf(page);
  const lines = FAULT_ROWS.map(
    ({ row, fault, holds }) =>
      made.get(row) ?? before.get(row) ?? `| ${row} | ${fault} | ${holds} | not run | | |`,
  );
  const table = [
    `On ${availableParallelism()} cores, ${process.platform} ${process.arch}, Node ${process.versions.node}.`,
    '',
    '| # | fault or abuse | holds when | verdict | measured | on |',
    '|---|---|---|---|---|---|',
    ...lines,
    '',
  ].join('\n');
  writeFileSync(
    PAGE,
    page.replace(TABLE, (_, begin: string, end: string) => `${begin}${table}${end}`),
  );
};

const started = performance.now();
const chosen = process.argv.slice(2).map(Number);
if (!chosen.every((row) => FAULT_ROWS.some((each) => each.row === row))) {
  process.stderr.write(`npm run faults [-- ROW …], rows 1 to ${FAULT_ROWS.length}\n`);
  process.exit(2);
}
const rows = FAULT_ROWS.filter(({ row }) => chosen.length === 0 || chosen.includes(row));
const alone = rows.filter((each) => each.alone);
const together = rows.filter((each) => !each.alone);
rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
writeFileSync(FIGURES, '');

const tested = await runRows('alone', alone, 1);
tested.push(...(await runRows('together', together, AT_ONCE)));

const figures = readFigures();
const made = new Map(
  rows.map(({ row, fault, holds }) => [
    row,
    `| ${[row, fault, holds, verdictOf(row, tested), figuresOf(row, figures), WHEN].join(' | ')} |`,
  ]),
);
writeTable(made);

const print = (line: string) => process.stdout.write(`${line}\n`);
for (const line of made.values()) print(line);
for (const { row, failures } of tested)
  for (const failure of failures) print(`row ${row} failed: ${failure}`);
print(`${((performance.now() - started) / 60_000).toFixed(1)} minutes`);
if (rows.some(({ row }) => verdictOf(row, tested) !== 'holds')) process.exitCode = 1;
