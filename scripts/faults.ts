import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { type FaultResult, storeResults, writeFaultPage } from './fault-page.ts';
import { FAULT_ROWS, type FaultRow } from './fault-rows.ts';

// npm run faults [-- 1 5 9]: injects the faults that docs/reliability.md lists, stores the figures in scripts/fault-results.json and
// writes the page. A run of some rows adds its figures to those of earlier runs. `--page` writes the page without running anything.

const FOLDER = 'dist/faults';
const FIGURES = `${FOLDER}/figures.jsonl`;
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
  missed?: string;
}

const readFigures = (): Figure[] =>
  readFileSync(FIGURES, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

const ENGINE_NAMES: Record<string, string> = { sqlite: 'SQLite', postgres: 'PostgreSQL' };

/** Each text once, with the engine before it if only one engine reported it. */
const withEngines = (reported: { engine: string; text: string }[]): string[] =>
  [...Map.groupBy(reported, ({ text }) => text)].map(([text, same]) => {
    const engines = [...new Set(same.map(({ engine }) => ENGINE_NAMES[engine]))];
    return engines.length === 1 && engines[0] ? `${engines[0]}: ${text}` : text;
  });

const resultOf = (row: number, tested: Tested[], figures: Figure[]): FaultResult | null => {
  const own = tested.filter((each) => each.row === row);
  const failures = own.flatMap((each) => each.failures);
  if (own.every(({ passed }) => passed === 0) && failures.length === 0) return null;
  const reported = figures.filter((each) => each.row === row);
  const missed = [
    ...failures.map((name) => `the test “${name}” failed`),
    ...withEngines(
      reported.flatMap(({ engine, missed: text }) => (text === undefined ? [] : [{ engine, text }])),
    ),
  ];
  return {
    row,
    on: new Date().toISOString().slice(0, 10),
    figures: withEngines(reported.map(({ engine, figure: text }) => ({ engine, text }))),
    ...(missed.length > 0 && { missed }),
  };
};

const started = performance.now();
const print = (line: string) => process.stdout.write(`${line}\n`);
const {
  values: { page: onlyThePage },
  positionals,
} = parseArgs({ allowPositionals: true, options: { page: { type: 'boolean', default: false } } });
const chosen = positionals.map(Number);
if (!chosen.every((row) => FAULT_ROWS.some((each) => each.row === row))) {
  process.stderr.write(`npm run faults [-- ROW … | --page], rows 1 to ${FAULT_ROWS.length}\n`);
  process.exit(2);
}
if (onlyThePage) {
  writeFaultPage();
  process.exit();
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
const results = rows.flatMap(({ row }) => resultOf(row, tested, figures) ?? []);
const machine = `${availableParallelism()} cores, ${process.platform} ${process.arch}, Node ${process.versions.node}`;
storeResults({ machine, results }, chosen.length === 0);
writeFaultPage();

for (const { row, figures: lines, missed = [] } of results) {
  print(`${row}: ${missed.length === 0 ? 'kept' : 'not kept'}`);
  for (const line of [...missed.map((each) => `missed: ${each}`), ...lines]) print(`  ${line}`);
}
print(`${((performance.now() - started) / 60_000).toFixed(1)} minutes`);
if (results.length < rows.length || results.some(({ missed }) => missed)) process.exitCode = 1;
