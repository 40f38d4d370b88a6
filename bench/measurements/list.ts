import { baselineWork, serviceWork } from '../contestants.ts';
import type { Measurement, Row } from '../measurement.ts';
import { takeTurns } from '../rounds.ts';

/** The first page with its total, against the same page without one. */
export const list: Measurement = {
  name: 'list',
  engines: ['postgres', 'sqlite'],
  async run(stage) {
    const { engine, effort } = stage;
    const served = serviceWork(await stage.oneShop(effort.medium)).list;
    const found = await takeTurns(effort, {
      bare: baselineWork(await stage.baseline()).page,
      plain: served(() => ''),
      status: served(() => '?status=OFFLINE_REPAIR'),
      externalRef: served((i) => `?externalRef=POS-${i % 500}`),
    });
    const rowOf = (work: string, short: string, { perSecond }: { perSecond: number }): Row => ({
      work,
      short,
      engine,
      measured: perSecond,
      unit: '/s',
      baseline: { name: engine === 'postgres' ? 'L4n' : 'S4n', value: found.bare.perSecond },
      goal: { bound: 'least', value: 0.7 },
    });
    const page = `list page 1 with total, of ${effort.medium.toLocaleString('en')}`;
    return {
      rows: [
        rowOf(page, 'list', found.plain),
        rowOf(`${page}, with \`status\``, 'list by status', found.status),
        rowOf(`${page}, with \`externalRef\``, 'list by externalRef', found.externalRef),
      ],
    };
  },
};
