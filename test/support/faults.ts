import { appendFileSync } from 'node:fs';

// The rows of docs/reliability.md: short in the suites, in full with `npm run faults`, which makes the table from the figures.

/** Whether the rows are done in full. */
export const FULL = process.env['FAULTS'] === 'full';
const FIGURES = process.env['FAULTS_FIGURES'];

/** How much a row does: the first in the suites, the second with `npm run faults`. */
export const effort = <Value>(short: Value, full: Value): Value => (FULL ? full : short);

/** Notes one figure of a row for the table. */
export const measured = (row: number, figure: string): void => {
  if (FIGURES) appendFileSync(FIGURES, `${JSON.stringify({ row, engine: process.env['ENGINE'], figure })}\n`);
};
