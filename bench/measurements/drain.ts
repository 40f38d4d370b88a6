import { fileURLToPath } from 'node:url';
import { outputOf } from '../children.ts';
import type { Measurement } from '../measurement.ts';
import { type Contestant, takeTurns } from '../rounds.ts';
import type { WebhookHouse } from '../stage.ts';
import { beginDrain, untilSettled } from '../webhooks/backlog.ts';

const LOOP = fileURLToPath(new URL('../baselines/undici-loop.ts', import.meta.url));

/** From the first arrival to the last, as the receivers see it. */
export const drain: Measurement = {
  name: 'drain',
  engines: ['postgres', 'sqlite'],
  async run(stage) {
    const { engine, effort } = stage;
    const house = await stage.webhooks();
    // The service runs on and on, so it is measured warm: the first backlog of a process takes half as long again.
    if (effort.warmUpSeconds > 0) await drained(house, effort.backlog);
    const { U, served } = await takeTurns<'U' | 'served', 'perSecond'>(
      { rounds: effort.rounds, warmUpSeconds: 0, roundSeconds: 0 },
      { U: looped(house, effort.backlog), served: async () => drained(house, effort.backlog) },
    );
    return {
      rows: [
        {
          work: `webhooks drained from a backlog of ${effort.backlog.toLocaleString('en')}, ${house.away.length} receivers`,
          short: 'webhooks drained',
          engine,
          measured: served.perSecond,
          unit: '/s',
          baseline: { name: 'U', value: U.perSecond },
          goal: { bound: 'least', value: 0.75 },
        },
      ],
    };
  },
};

/** Drains a backlog once. */
const drained = async (house: WebhookHouse, count: number): Promise<{ perSecond: number }> => {
  const { all } = await beginDrain(house, count);
  const seconds = await all;
  await untilSettled(house);
  return { perSecond: count / seconds };
};

const looped =
  ({ receivers }: WebhookHouse, count: number): Contestant<'perSecond'> =>
  async () => {
    const { all } = receivers.expect(count);
    await outputOf(process.execPath, [LOOP, String(count), ...receivers.urls]);
    return { perSecond: count / (await all) };
  };
