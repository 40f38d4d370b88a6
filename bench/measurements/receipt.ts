import { setTimeout as pause } from 'node:timers/promises';
import { BASE_PATH } from '../../contract/common.ts';
import { percentile } from '../figures.ts';
import type { Measurement, Row } from '../measurement.ts';
import { creation, manyRequests } from '../requests.ts';
import { takeTurns } from '../rounds.ts';
import type { SeededShop } from '../seed.ts';
import type { WebhookHouse } from '../stage.ts';
import { preciseNow } from '../webhooks/ear.ts';

const EVENTS_A_SECOND = 50;
const REST_MS = 500;

/**
 * How soon a receiver hears of a creation. The commit cannot be seen from outside: it lies before the 201, which this
 * process receives as well, and after the creation's own time. Measured from the 201; that from the creation is given beside.
 */
export const receipt: Measurement = {
  name: 'receipt',
  engines: ['postgres', 'sqlite'],
  async run(stage) {
    const { engine, effort } = stage;
    const house = await stage.webhooks();
    const { trickle } = await takeTurns(
      { rounds: effort.rounds, warmUpSeconds: 1, roundSeconds: effort.trickleSeconds },
      { trickle: (seconds) => trickleOf(house, seconds) },
    );
    const rowOf = (name: 'p50' | 'p99', mostMs: number): Row => ({
      work: `commit → receipt at ${EVENTS_A_SECOND}/s on loopback: ${name}`,
      engine,
      measured: trickle[name],
      unit: 'ms',
      goal: { bound: 'most', value: mostMs },
    });
    return {
      rows: [rowOf('p50', 5), rowOf('p99', 20)],
      extras: {
        asides: {
          [`${engine} p50 from the creation`]: trickle.p50FromCreation,
          [`${engine} p99 from the creation`]: trickle.p99FromCreation,
        },
      },
    };
  },
};

export const trickleOf = async ({ service, near, ear }: WebhookHouse, seconds: number) => {
  ear.heard();
  const created = new Map<string, { createdAt: number; acknowledgedAt: number }>();
  const requests = manyRequests((i) =>
    creation(
      `${BASE_PATH}/offline-repairs`,
      { 'x-api-key': (near[i % near.length] as SeededShop).apiKey },
      i,
    ),
  );
  const create = async (i: number): Promise<void> => {
    const { path, headers, body = '' } = requests[i % requests.length] as (typeof requests)[number];
    const response = await fetch(service.url + path, { method: 'POST', headers, body });
    const acknowledgedAt = preciseNow();
    if (response.status !== 201) throw new Error(`creating answered ${response.status}`);
    const { id, createdAt } = (await response.json()) as { id: string; createdAt: string };
    created.set(id, { createdAt: Date.parse(createdAt), acknowledgedAt });
  };
  const start = performance.now();
  const all: Promise<void>[] = [];
  for (let i = 0; i < EVENTS_A_SECOND * seconds; i++) {
    await pause(Math.max(0, start + (i * 1000) / EVENTS_A_SECOND - performance.now()));
    all.push(create(i));
  }
  await Promise.all(all);
  await pause(REST_MS);
  const heard = ear.heard().flatMap(({ id, at }) => {
    const times = created.get(id);
    return times ? [{ at, ...times }] : [];
  });
  if (heard.length < created.size) throw new Error(`${created.size - heard.length} events did not arrive`);
  const since201 = heard.map(({ at, acknowledgedAt }) => Math.max(0, at - acknowledgedAt));
  const sinceCreation = heard.map(({ at, createdAt }) => at - createdAt);
  return {
    p50: percentile(since201, 0.5),
    p99: percentile(since201, 0.99),
    p50FromCreation: percentile(sinceCreation, 0.5),
    p99FromCreation: percentile(sinceCreation, 0.99),
  };
};
