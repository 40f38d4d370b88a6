import { baselineWork, serviceWork } from '../contestants.ts';
import type { Measurement, Row } from '../measurement.ts';
import { takeTurns } from '../rounds.ts';

/** Moves in a few shops and in one, against the same rows written by one statement or one transaction each. */
export const moves: Measurement = {
  name: 'moves',
  engines: ['postgres', 'sqlite'],
  async run(stage) {
    const { engine, effort } = stage;
    const baseline = baselineWork(await stage.baseline());
    const house = await stage.movingShops();
    const work = serviceWork(house);
    const [first] = house.rmas.shops;
    const { bare, few, hot } = await takeTurns(effort, {
      bare: baseline.move,
      few: work.move(),
      hot: work.move((n) => house.rmas.shopOf(n) === first),
    });
    const rowOf = (name: string, { perSecond }: { perSecond: number }): Row => ({
      work: name,
      engine,
      measured: perSecond,
      unit: '/s',
      baseline: { name: engine === 'postgres' ? 'M2' : 'SM2', value: bare.perSecond },
      goal: { bound: 'least', value: 1 },
    });
    return { rows: [rowOf('moves, 20 shops', few), rowOf('moves, one hot shop', hot)] };
  },
};
