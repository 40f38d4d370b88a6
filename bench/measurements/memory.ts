import { setTimeout as pause } from 'node:timers/promises';
import { CONNECTIONS, serviceWork } from '../contestants.ts';
import type { TestDatabase } from '../databases.ts';
import type { Extras, Measurement } from '../measurement.ts';
import { waitingDeliveries } from '../seed.ts';

/** Where creations are too slow to reach the number in this time, memory is read at what was reached. */
const LONGEST_MS = 60_000;
const STEP_SECONDS = 3;
const REST_MS = 2_000;

/** The memory of a service that made all those creations since its start and holds all their deliveries back. */
export const memory: Measurement = {
  name: 'memory',
  engines: ['postgres', 'sqlite'],
  async run(stage) {
    const { engine, effort } = stage;
    const house = await stage.manyShops();
    const create = serviceWork(house, CONNECTIONS).createOver();
    const deadline = performance.now() + LONGEST_MS;
    let waiting = await waitingDeliveries(house.database);
    while (waiting < effort.creations && performance.now() < deadline) {
      await create(STEP_SECONDS);
      waiting = await waitingDeliveries(house.database);
    }
    await pause(REST_MS);
    const reached = waiting < effort.creations ? Math.floor(waiting / 1000) * 1000 : effort.creations;
    return {
      rows: [
        {
          work: `memory after ${reached.toLocaleString('en')} creations, their deliveries waiting`,
          engine,
          measured: house.service.memoryMb(),
          unit: 'MB',
          goal: { bound: 'most', value: 250 },
        },
      ],
      ...(engine === 'postgres' ? { extras: { bytes: await bytesIn(house.database) } } : {}),
    };
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
