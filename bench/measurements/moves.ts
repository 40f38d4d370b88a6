import { serviceWork } from '../contestants.ts';
import type { Measurement } from '../measurement.ts';
import { takeTurns } from '../rounds.ts';

/** Moves of one shop's repairs, which come one after another since each holds the shop's counters, beside moves of many shops'. */
export const moves: Measurement = {
  name: 'moves',
  engines: ['postgres', 'sqlite'],
  async run(stage) {
    const { engine, effort } = stage;
    const house = await stage.fewShops();
    const work = serviceWork(house);
    const [first] = house.rmas.shops;
    const { hot, many } = await takeTurns(effort, {
      many: work.move(),
      hot: work.move((n) => house.rmas.shopOf(n) === first),
    });
    return {
      rows: [
        {
          work: 'moves, one hot shop',
          engine,
          measured: hot.perSecond,
          unit: '/s',
          baseline: { name: '20 shops', value: many.perSecond },
          goal: { bound: 'least', value: 0.5 },
        },
      ],
    };
  },
};
