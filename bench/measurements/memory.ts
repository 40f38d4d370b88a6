import { setTimeout as pause } from 'node:timers/promises';
import { serviceWork } from '../contestants.ts';
import type { TestDatabase } from '../databases.ts';
import type { Extras, Measurement } from '../measurement.ts';
import { startService } from '../service.ts';

/** Where creations are too slow to reach the number in this time, memory is read at what was reached. */
const LONGEST_MS = 60_000;
const STEP_SECONDS = 3;
const REST_MS = 2_000;

/** The memory of a process that made all those creations since its start, with none of their events delivered. */
export const memory: Measurement = {
  name: 'memory',
  engines: ['postgres', 'sqlite'],
  async run(stage) {
    const { engine, effort } = stage;
    const house = await stage.manyShops();
    // A process as it is by default, which also sends.
    await house.service.stop();
    const service = await startService(house.database);
    try {
      const create = serviceWork({ ...house, service }).createOver();
      const deadline = performance.now() + LONGEST_MS;
      let made = 0;
      while (made < effort.creations && performance.now() < deadline)
        made += (await create(STEP_SECONDS)).requests;
      await pause(REST_MS);
      const reached = made < effort.creations ? Math.floor(made / 1000) * 1000 : effort.creations;
      return {
        rows: [
          {
            work: `memory after ${reached.toLocaleString('en')} creations, their deliveries waiting`,
            engine,
            measured: service.memoryMb(),
            unit: 'MB',
            goal: { bound: 'most', value: 250 },
          },
        ],
        ...(engine === 'postgres' ? { extras: { bytes: await bytesIn(house.database) } } : {}),
      };
    } finally {
      await service.stop();
    }
  },
};

/** What a row takes on disk with its indexes. */
const bytesIn = async (database: TestDatabase): Promise<Extras['bytes']> => {
  const bytesPerRow = async (table: string): Promise<number> => {
    const [row] = await database.run(
      `select pg_total_relation_size('${table}')::float8 / count(*) as bytes from ${table}`,
    );
    return Number(row?.['bytes']);
  };
  return {
    perRepair: await bytesPerRow('offline_repairs'),
    perTimelineEntry: await bytesPerRow('timeline'),
    perDelivery: await bytesPerRow('webhook_deliveries'),
  };
};
