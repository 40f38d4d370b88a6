import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { FULL, QUICK } from './effort.ts';
import { ENGINES, type Engine } from './engines.ts';
import { LOAD_TOOL } from './load/load.ts';
import type { Extras, Measurement, Row } from './measurement.ts';
import { apiWhileDraining } from './measurements/api-while-draining.ts';
import { create } from './measurements/create.ts';
import { drain } from './measurements/drain.ts';
import { filters } from './measurements/filters.ts';
import { get } from './measurements/get.ts';
import { growth } from './measurements/growth.ts';
import { largeResponses } from './measurements/large-responses.ts';
import { largeShop } from './measurements/large-shop.ts';
import { list } from './measurements/list.ts';
import { manyReceivers } from './measurements/many-receivers.ts';
import { memory } from './measurements/memory.ts';
import { moves } from './measurements/moves.ts';
import { oneConnection } from './measurements/one-connection.ts';
import { receipt } from './measurements/receipt.ts';
import { start } from './measurements/start.ts';
import { waiting } from './measurements/waiting.ts';
import { factsBefore } from './report/facts.ts';
import { writePage } from './report/page.ts';
import { keepResults, keptResults, type Results, together } from './report/results.ts';
import { textTable } from './report/table.ts';
import { openStage } from './stage.ts';

/**
 * In the order they are run. On SQLite creations leave a backlog behind, so reads come before them; `memory` and `start` end
 * the service that those before them use.
 */
const MEASUREMENTS: Measurement[] = [
  get,
  create,
  oneConnection,
  memory,
  list,
  growth,
  largeShop,
  largeResponses,
  filters,
  moves,
  waiting,
  start,
  drain,
  receipt,
  apiWhileDraining,
  manyReceivers,
];

/** In the order of the table. */
const TOLD: Measurement[] = [
  create,
  get,
  list,
  oneConnection,
  growth,
  largeShop,
  largeResponses,
  filters,
  moves,
  waiting,
  drain,
  receipt,
  apiWhileDraining,
  manyReceivers,
  memory,
  start,
];

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    engine: { type: 'string' },
    page: { type: 'boolean', default: false },
  },
});
const chosen = (names: string | undefined, name: string): boolean =>
  !names || names.split(',').includes(name);

const measure = async (): Promise<Results> => {
  const effort = options.quick ? QUICK : FULL;
  const facts = factsBefore();
  const begun = performance.now();
  const found = new Map<Measurement, Row[]>(TOLD.map((measurement) => [measurement, []]));
  const rows = () => [...found.values()].flatMap(sorted);
  let extras: Extras = {};
  say(`Load from ${LOAD_TOOL}, ${effort.rounds} rounds.`);
  for (const engine of ENGINES.filter((each) => chosen(options.engine, each))) {
    const stage = openStage(engine, effort);
    try {
      for (const measurement of MEASUREMENTS) {
        if (!measurement.engines.includes(engine) || !chosen(options.only, measurement.name)) continue;
        const start = performance.now();
        const now = await measurement.run(stage);
        found.get(measurement)?.push(...now.rows);
        extras = together(extras, now.extras ?? {});
        say(`${measurement.name}, ${engine}: ${((performance.now() - start) / 1000).toFixed(0)} s`);
      }
      facts.software.push((await stage.databases()).version);
    } catch (error) {
      say(`\nBroken off; until then:\n${textTable(rows())}`);
      throw error;
    } finally {
      await stage.close();
    }
  }
  const minutes = (performance.now() - begun) / 60_000;
  return {
    facts: { ...facts, loadTool: LOAD_TOOL, rounds: effort.rounds, minutes },
    rows: rows(),
    extras,
  };
};

/** Work by work, the engines side by side. */
const sorted = (rows: Row[]): Row[] => {
  const works = [...new Set(rows.map(({ work }) => work))];
  const place = ({ work, engine }: { work: string; engine: Engine }): number =>
    works.indexOf(work) * ENGINES.length + ENGINES.indexOf(engine);
  return rows.toSorted((one, other) => place(one) - place(other));
};

// As `npm ci` does: `npm start` runs what was built where no source is newer.
execFileSync(process.execPath, ['scripts/build-service.mjs'], { stdio: 'inherit' });
if (options.page) writePage(keptResults());
else {
  const results = await measure();
  say(`\n${textTable(results.rows)}\n\n${results.facts.minutes.toFixed(1)} minutes`);
  if (!options.quick && !options.only && !options.engine) {
    keepResults(results);
    writePage(results);
    say('Written: docs/performance.md');
  }
}
