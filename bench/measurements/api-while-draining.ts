import { CONNECTIONS, serviceWork } from '../contestants.ts';
import type { Measurement } from '../measurement.ts';
import { takeTurns } from '../rounds.ts';
import { beginDrain, untilSettled } from '../webhooks/backlog.ts';

/** Creations and reads in turn while a backlog drains in the same process, against the same with nothing to send. */
export const apiWhileDraining: Measurement = {
  name: 'api-while-draining',
  engines: ['postgres', 'sqlite'],
  async run(stage) {
    const { engine, effort } = stage;
    const house = await stage.webhooks();
    const call = serviceWork(house, CONNECTIONS).createAndGet();
    // So long that the first requests, which come all at once, are less than one of a hundred.
    const longer = { ...effort, roundSeconds: effort.roundSeconds * 2 };
    const { idle, draining } = await takeTurns(longer, {
      idle: call,
      draining: async (seconds) => {
        const { first, all } = await beginDrain(house, effort.backlog);
        let ended = false;
        void all.then(() => {
          ended = true;
        });
        await first;
        const figures = await call(seconds);
        if (ended) process.stderr.write('The backlog was drained before the measurement ended.\n');
        await all;
        await untilSettled(house);
        return figures;
      },
    });
    return {
      rows: [
        {
          work: `API p99 while ${effort.backlog.toLocaleString('en')} deliveries drain`,
          engine,
          measured: draining.p99Ms,
          unit: 'ms',
          baseline: { name: 'idle', value: idle.p99Ms },
          goal: { bound: 'most', value: 1.5 },
        },
      ],
    };
  },
};
