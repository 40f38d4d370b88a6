import { Agent, request } from 'undici';
import { BASE_PATH } from '../../contract/common.ts';
import { percentile } from '../figures.ts';
import { trickle } from '../load/trickle.ts';
import type { Measurement } from '../measurement.ts';
import { creation, reading } from '../requests.ts';
import type { SeededShop } from '../seed.ts';

const WAITING = 200;
const SECONDS = 6;

let addresses = 0;
const newAddress = (): { 'x-forwarded-for': string } => {
  addresses += 1;
  return { 'x-forwarded-for': `13.0.${(addresses >> 8) & 255}.${addresses & 255}` };
};

/** What 200 requests that wait for an event cost everybody else, and how soon it reaches all of them. */
export const waiting: Measurement = {
  name: 'waiting',
  engines: ['postgres', 'sqlite'],
  async run(stage) {
    const { engine } = stage;
    const { service, rmas } = await stage.fewShops();
    const [shop, ...others] = rmas.shops as [SeededShop, ...SeededShop[]];
    const own = { 'x-api-key': shop.apiKey };
    const gets = (i: number) => {
      const other = others[i % others.length] as SeededShop;
      return reading(`${BASE_PATH}/offline-repairs?limit=1`, { 'x-api-key': other.apiKey, ...newAddress() });
    };
    const agent = new Agent({ connections: WAITING + 1 });
    const ask = async (path: string, more: object = {}) => {
      const { body } = await request(service.url + path, {
        dispatcher: agent,
        headers: { ...own, ...newAddress() },
        ...more,
      });
      return (await body.json()) as { cursor: string; items: unknown[] };
    };

    const idle = await trickle(service.url, { gets }, SECONDS);
    const memoryBefore = service.memoryMb();
    const { cursor } = await ask(`${BASE_PATH}/events?after=latest`);
    const polls = Array.from({ length: WAITING }, () => ask(`${BASE_PATH}/events?after=${cursor}&wait=25`));
    const busy = await trickle(service.url, { gets }, SECONDS);
    const memoryMore = service.memoryMb() - memoryBefore;
    const { method, path, headers, body } = creation(`${BASE_PATH}/offline-repairs`, own, 0);
    const startedAt = performance.now();
    await ask(path, { method, headers: { ...headers, ...newAddress() }, body });
    const pages = await Promise.all(polls);
    const reachedMs = performance.now() - startedAt;
    if (pages.some(({ items }) => items.length !== 1)) throw new Error('a waiting request missed the event');
    await agent.close();

    return {
      rows: [
        {
          work: `p99 of other shops' lists while ${WAITING} requests wait for an event`,
          engine,
          measured: percentile(busy.times['gets'] ?? [], 0.99),
          unit: 'ms',
          baseline: { name: 'idle', value: percentile(idle.times['gets'] ?? [], 0.99) },
          goal: { bound: 'most', value: 1.5 },
        },
        {
          work: `an event has reached all ${WAITING} that wait for it`,
          engine,
          measured: reachedMs,
          unit: 'ms',
          goal: { bound: 'most', value: 1_000 },
        },
        {
          work: `memory more with ${WAITING} requests waiting`,
          engine,
          measured: memoryMore,
          unit: 'MB',
          goal: { bound: 'most', value: 50 },
        },
      ],
    };
  },
};
