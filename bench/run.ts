import { parseArgs } from 'node:util';
import { FULL, QUICK } from './effort.ts';
import { LOAD_TOOL } from './load/load.ts';
import { ENGINES, type Engine, type Measurement, type Row } from './measurement.ts';
import { apiWhileDraining } from './measurements/api-while-draining.ts';
import { create } from './measurements/create.ts';
import { drain } from './measurements/drain.ts';
import { get } from './measurements/get.ts';
import { growth } from './measurements/growth.ts';
import { largeShop } from './measurements/large-shop.ts';
import { list } from './measurements/list.ts';
import { memory } from './measurements/memory.ts';
import { oneConnection } from './measurements/one-connection.ts';
import { receipt } from './measurements/receipt.ts';
import { start } from './measurements/start.ts';
import { textTable } from './report/table.ts';
import { openStage } from './stage.ts';

const MEASUREMENTS: Measurement[] = [
  create,
  get,
  oneConnection,
  memory,
  list,
  growth,
  largeShop,
  start,
  drain,
  receipt,
  apiWhileDraining,
];

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    engine: { type: 'string' },
  },
});
const chosen = (names: string | undefined, name: string): boolean =>
  !names || names.split(',').includes(name);
const effort = options.quick ? QUICK : FULL;

say(`Load from ${LOAD_TOOL}, median of ${effort.rounds} rounds.`);
const rows: Row[] = [];
const begun = performance.now();
for (const engine of ENGINES.filter((each: Engine) => chosen(options.engine, each))) {
  const stage = openStage(engine, effort);
  try {
    for (const measurement of MEASUREMENTS) {
      if (!measurement.engines.includes(engine) || !chosen(options.only, measurement.name)) continue;
      const start = performance.now();
      const { rows: found } = await measurement.run(stage);
      rows.push(...found);
      say(`${measurement.name}, ${engine}: ${((performance.now() - start) / 1000).toFixed(0)} s`);
    }
  } finally {
    await stage.close();
  }
}
say('');
say(textTable(rows));
say(`\n${((performance.now() - begun) / 60_000).toFixed(1)} minutes`);
