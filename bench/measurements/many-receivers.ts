import { setTimeout as pause } from 'node:timers/promises';
import type { Measurement, Row } from '../measurement.ts';
import { seedRmas, seedShops, settleDown } from '../seed.ts';
import { type Service, startService } from '../service.ts';
import type { Stage, WebhookHouse } from '../stage.ts';
import { beginDrain, untilSettled } from '../webhooks/backlog.ts';
import { startEar } from '../webhooks/ear.ts';
import { startReceivers } from '../webhooks/receivers.ts';
import { trickleOf } from './receipt.ts';

const ADDRESSES = 100;
const NEAR = 20;
const SETTLE_MS = 5_000;
const SAMPLE_MS = 200;

/** One installation for very many shops, each of which wants its events: what it costs to have them, and one event among all. */
export const manyReceivers: Measurement = {
  name: 'many-receivers',
  engines: ['postgres', 'sqlite'],
  async run(stage) {
    const ends: (() => Promise<void>)[] = [];
    try {
      return { rows: await measured(stage, (end) => void ends.unshift(end)) };
    } finally {
      for (const end of ends) await end();
    }
  },
};

const measured = async (
  { engine, effort, databases }: Stage,
  onEnd: (end: () => Promise<void>) => void,
): Promise<Row[]> => {
  const { receivers: count } = effort;
  const receivers = await startReceivers(ADDRESSES);
  onEnd(receivers.stop);
  const ear = await startEar();
  onEnd(ear.close);
  const database = await (await databases()).create('many_receivers');
  const away = await seedShops(database, count, (i) => `${receivers.urls[i % ADDRESSES] as string}/${i + 1}`);
  const near = await seedShops(database, NEAR, () => ear.url);
  const rmas = await seedRmas(database, near, effort.small);
  await settleDown(database);

  const begun = performance.now();
  const service = await startService(database);
  onEnd(service.stop);
  const startSeconds = (performance.now() - begun) / 1000;
  const house: WebhookHouse = { database, service, rmas, receivers, away, ear, near };
  const idle = await idleFigures(service, effort.idleSeconds);
  const { perSecond, p99, peakMb } = await drainFigures(house, count, effort.trickleSeconds);

  const shops = `${count.toLocaleString('en')} receivers`;
  const rowOf = (
    what: string,
    figure: number,
    unit: Row['unit'],
    value: number,
    bound: Row['goal']['bound'] = 'most',
  ): Row => ({ work: `${shops}: ${what}`, engine, measured: figure, unit, goal: { bound, value } });
  return [
    rowOf('start to ready', startSeconds, 's', 2),
    rowOf('processor while idle', idle.cpuPercent, '%', 1),
    rowOf('memory while idle', idle.memoryMb, 'MB', 200),
    rowOf('drained, one event each', perSecond, '/s', 1500, 'least'),
    rowOf('commit → receipt of one more while they drain: p99', p99, 'ms', 100),
    rowOf('peak memory while they drain', peakMb, 'MB', 300),
  ];
};

const idleFigures = async (service: Service, seconds: number) => {
  await pause(SETTLE_MS);
  const before = service.cpuSeconds();
  await pause(seconds * 1000);
  return {
    cpuPercent: ((service.cpuSeconds() - before) / seconds) * 100,
    memoryMb: service.memoryMb(),
  };
};

const drainFigures = async (house: WebhookHouse, count: number, seconds: number) => {
  let peakMb = 0;
  const sampling = setInterval(() => {
    peakMb = Math.max(peakMb, house.service.memoryMb());
  }, SAMPLE_MS);
  try {
    // The first creations of a process take ten times as long.
    await trickleOf(house, 1);
    const { first, all } = await beginDrain(house, count);
    await first;
    const { p99 } = await trickleOf(house, seconds);
    const perSecond = count / (await all);
    await untilSettled(house);
    return { perSecond, p99, peakMb };
  } finally {
    clearInterval(sampling);
  }
};
