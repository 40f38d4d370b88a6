import { baselineWork, serviceWork } from '../contestants.ts';
import type { Measurement } from '../measurement.ts';
import { takeTurns } from '../rounds.ts';

/** Creations against the same rows written by one statement or one transaction each. */
export const create: Measurement = {
  name: 'create',
  engines: ['postgres', 'sqlite'],
  async run(stage) {
    const { engine, effort } = stage;
    const baseline = baselineWork(await stage.baseline());
    const house = await stage.manyShops();
    const work = serviceWork(house);
    if (engine === 'sqlite') {
      const { S2, many } = await takeTurns(effort, { S2: baseline.create, many: work.createOver() });
      return {
        rows: [
          {
            work: 'create, 1,000 shops',
            engine,
            measured: many.perSecond,
            unit: '/s',
            baseline: { name: 'S2', value: S2.perSecond },
            goal: { bound: 'least', value: 1.5 },
          },
        ],
      };
    }
    const { L0, L2, many, hot } = await takeTurns(effort, {
      L0: baseline.validate,
      L2: baseline.create,
      many: work.createOver(),
      hot: work.createOver(house.rmas.shops.slice(0, 1)),
    });
    const L2Figure = { name: 'L2', value: L2.perSecond };
    return {
      rows: [
        {
          work: 'create, 1,000 shops',
          engine,
          measured: many.perSecond,
          unit: '/s',
          baseline: L2Figure,
          goal: { bound: 'least', value: 1 },
        },
        {
          work: 'create, one hot shop',
          engine,
          measured: hot.perSecond,
          unit: '/s',
          baseline: L2Figure,
          goal: { bound: 'least', value: 1 },
        },
      ],
      extras: { asides: { L0: L0.perSecond } },
    };
  },
};
