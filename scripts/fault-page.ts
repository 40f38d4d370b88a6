import { readFileSync, writeFileSync } from 'node:fs';
import { FAULT_ROWS, type FaultRow } from './fault-rows.ts';

// Writes the part of docs/reliability.md that lists the injected faults, from scripts/fault-rows.ts and the results of `npm run faults`.

const PAGE = 'docs/reliability.md';
const RESULTS = 'scripts/fault-results.json';
const PART = /(<!-- written by npm run faults -->\n)[\s\S]*?(<!-- end -->)/;

export interface FaultResult {
  row: number;
  /** The day of the run. */
  on: string;
  figures: string[];
  /** What was promised and not kept. */
  missed?: string[];
}

export interface FaultResults {
  machine: string;
  results: FaultResult[];
}

export const readResults = (): FaultResults => JSON.parse(readFileSync(RESULTS, 'utf8'));

/** Results of some rows are added to those that are there: a second run never hides the first. A whole run begins anew. */
export const storeResults = ({ machine, results }: FaultResults, isWhole: boolean): void => {
  const before = isWhole ? [] : readResults().results;
  const all = [...before, ...results].sort((one, other) => one.row - other.row);
  writeFileSync(RESULTS, `${JSON.stringify({ machine, results: all }, null, 2)}\n`);
};

const verdictOf = (runs: FaultResult[]): string => {
  if (runs.length === 0) return 'not run';
  return runs.some(({ missed }) => missed) ? '**not kept**' : 'kept';
};

const runText = ({ on, figures, missed }: FaultResult): string =>
  [
    `${on}:`,
    '',
    ...(missed ?? []).map((each) => `- **Missed:** ${each}.`),
    ...figures.map((figure) => `- ${figure}.`),
  ].join('\n');

const headingOf = ({ row, title }: FaultRow): string => `${row}. ${title}`;

const sectionOf = (row: FaultRow, runs: FaultResult[]): string =>
  [
    `### ${headingOf(row)}`,
    row.fault,
    `The promise: ${row.promise}. Result: ${verdictOf(runs)}.`,
    ...runs.map(runText),
    ...(row.note ? [row.note] : []),
  ].join('\n\n');

const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-');

export const writeFaultPage = (): void => {
  const { machine, results } = readResults();
  const runsOf = ({ row }: FaultRow) => results.filter((each) => each.row === row);
  const overview = FAULT_ROWS.map(
    (row) => `| [${headingOf(row)}](#${anchorOf(headingOf(row))}) | ${verdictOf(runsOf(row))} |`,
  );
  const part = [
    `Measured on ${machine}.`,
    ['| fault | promise |', '|---|---|', ...overview].join('\n'),
    ...FAULT_ROWS.map((row) => sectionOf(row, runsOf(row))),
    '',
  ].join('\n\n');
  const page = readFileSync(PAGE, 'utf8');
  if (!PART.test(page)) throw new Error(`${PAGE} has lost the marks of its generated part`);
  writeFileSync(
    PAGE,
    page.replace(PART, (_, begin: string, end: string) => `${begin}\n${part.trimEnd()}\n\n${end}`),
  );
};
