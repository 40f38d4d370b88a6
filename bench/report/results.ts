import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Extras, Row } from '../measurement.ts';
import type { Facts } from './facts.ts';

/** All that a run found out, kept so that the page can be written anew without measuring anew. */
export interface Results {
  facts: Facts;
  rows: Row[];
  extras: Extras;
}

const FILE = fileURLToPath(new URL('../../dist/bench.json', import.meta.url));

export const keepResults = (results: Results): void => {
  mkdirSync(dirname(FILE), { recursive: true });
  writeFileSync(FILE, `${JSON.stringify(results, null, 2)}\n`);
};

export const keptResults = (): Results => JSON.parse(readFileSync(FILE, 'utf8'));

export const together = (one: Extras, other: Extras): Extras => ({
  growth: [...(one.growth ?? []), ...(other.growth ?? [])],
  asides: { ...one.asides, ...other.asides },
  ...((other.bytes ?? one.bytes) ? { bytes: other.bytes ?? one.bytes } : {}),
});
