import { baselineWork, serviceWork } from '../contestants.ts';
import type { Measurement, Row } from '../measurement.ts';
import { takeTurns } from '../rounds.ts';

/** What one caller waits when nobody else calls: gathering must not cost those who come alone. */
export const oneConnection: Measurement = {
  name: 'one-connection',
  engines: ['postgres'],
  async run(stage) {
    const { engine, effort } = stage;
    const bare = baselineWork(await stage.baseline(), 1);
    const served = serviceWork(await stage.manyShops(), 1);
    const found = await takeTurns(
      { ...effort, roundSeconds: Math.min(2, effort.roundSeconds) },
      { L2: bare.create, create: served.createOver(), L3: bare.get, get: served.get() },
    );
    const rowOf = (work: 'create' | 'get', name: 'L2' | 'L3'): Row => ({
      work: `one connection, ${work}: p50`,
      engine,
      measured: found[work].p50Ms,
      unit: 'ms',
      baseline: { name, value: found[name].p50Ms },
      goal: { bound: 'most', value: 1.3 },
    });
    return { rows: [rowOf('create', 'L2'), rowOf('get', 'L3')] };
  },
};
