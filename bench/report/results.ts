import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Extras, type Row, ratioOf } from '../measurement.ts';
import type { Facts } from './facts.ts';

/** All that a run found out, kept so that the page can be written anew without measuring anew. */
export interface Results {
  facts: Facts;
  rows: Row[];
  extras: Extras;
}

const FILE = fileURLToPath(new URL('../../dist/bench.json', import.meta.url));
/** For charts over time: a larger figure is a better one, and 1 meets the goal. */
const GOALS_FILE = FILE.replace('.json', '-goals.json');

const shareOfGoal = (row: Row) => {
  const figure = ratioOf(row) ?? row.measured;
  const share = row.goal.bound === 'least' ? figure / row.goal.value : row.goal.value / figure;
  return { name: `${row.work}, ${row.engine}`, unit: 'of the goal', value: Number(share.toPrecision(3)) };
};

export const keepResults = (results: Results): void => {
  mkdirSync(dirname(FILE), { recursive: true });
  writeFileSync(FILE, `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(GOALS_FILE, `${JSON.stringify(results.rows.map(shareOfGoal), null, 2)}\n`);
};

export const keptResults = (): Results => JSON.parse(readFileSync(FILE, 'utf8'));

export const together = (one: Extras, other: Extras): Extras => ({
  growth: [...(one.growth ?? []), ...(other.growth ?? [])],
  asides: { ...one.asides, ...other.asides },
  ...((other.bytes ?? one.bytes) ? { bytes: other.bytes ?? one.bytes } : {}),
});
