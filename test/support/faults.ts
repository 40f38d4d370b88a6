import { appendFileSync } from 'node:fs';
import { ENGINE } from './harness.ts';

// The fault suite. In the ordinary suites each row runs in its short form; FAULTS=full asks for the whole of it.

export const effort = <Value>(short: Value, full: Value): Value =>
  process.env['FAULTS'] === 'full' ? full : short;

/** Notes one figure of a row for the table of docs/reliability.md. */
export const measured = (row: number, figure: string): void => {
  const file = process.env['FAULTS_FIGURES'];
  if (file) appendFileSync(file, `${JSON.stringify({ row, engine: ENGINE, figure })}\n`);
};
