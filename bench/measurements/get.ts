import { baselineWork, serviceWork } from '../contestants.ts';
import type { Measurement } from '../measurement.ts';
import { takeTurns } from '../rounds.ts';

const LEAST = { postgres: 1.2, sqlite: 0.6 };

/** Reading one repair, the key checked, against one prepared query. */
export const get: Measurement = {
  name: 'get',
  engines: ['postgres', 'sqlite'],
  async run(stage) {
    const { engine, effort } = stage;
    // The first that a new process does: what V8 has not compiled yet would be measured too.
    const warmer = { ...effort, warmUpSeconds: effort.warmUpSeconds * 3 };
    const { bare, served } = await takeTurns(warmer, {
      bare: baselineWork(await stage.baseline()).get,
      served: serviceWork(await stage.manyShops()).get(),
    });
    return {
      rows: [
        {
          work: 'get',
          engine,
          measured: served.perSecond,
          unit: '/s',
          baseline: { name: engine === 'postgres' ? 'L3' : 'S3', value: bare.perSecond },
          goal: { bound: 'least', value: LEAST[engine] },
        },
      ],
    };
  },
};
