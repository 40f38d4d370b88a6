import { BASE_PATH } from '../../contract/common.ts';
import { percentile } from '../figures.ts';
import { startGreedy } from '../load/greedy.ts';
import { trickle } from '../load/trickle.ts';
import type { Measurement, Row } from '../measurement.ts';
import { creation, type Request, reading } from '../requests.ts';
import { type SeededShop, seedDelivered, seedShops } from '../seed.ts';

// What a shop does to the others whose API clients repeat, without a pause, a list that may read very many rows.

const FULL_ROWS = 300_000;
const QUICK_ROWS = 20_000;
const CALLERS = 8;
const SECONDS = 3;
const OTHER_REPAIRS = 100;

const pathsOf = (rows: number): Record<string, string> => ({
  'externalSource of repairs, all of one value': '/offline-repairs?externalSource=till-3',
  'externalSource, no value': '/trade-returns?externalSource=nowhere',
  'customerEmail, no value': '/trade-returns?customerEmail=nobody@example.com',
  storeId: '/offline-repairs?storeId=store-7',
  'page 2,000 of 100': `/offline-repairs?limit=100&page=${Math.min(2_000, rows / 100 - 1)}`,
  'updatedSince, all of them': '/offline-repairs?updatedSince=2020-01-01T00:00:00.000Z',
  'deliveries by event': '/deliveries?event=offline_repair.closed',
  deliveries: '/deliveries',
});

let addresses = 0;
const afresh = (request: Request): Request => {
  addresses += 1;
  const address = `13.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`;
  return { ...request, headers: { ...request.headers, 'x-forwarded-for': address } };
};
const keyOf = ({ apiKey }: SeededShop) => ({ 'x-api-key': apiKey });

export const filters: Measurement = {
  name: 'filters',
  engines: ['postgres', 'sqlite'],
  async run(stage) {
    const { engine, effort } = stage;
    const rows = effort.rounds > 1 ? FULL_ROWS : QUICK_ROWS;
    const { database, service, rmas } = await stage.oneShop(rows, rows);
    const greedy = rmas.shops[0] as SeededShop;
    await seedDelivered(database, greedy, rows);
    const [other] = (await seedShops(database, 1, () => null)) as [SeededShop];
    for (let i = 0; i < OTHER_REPAIRS; i++) {
      const { path, headers, body = '' } = afresh(creation(`${BASE_PATH}/offline-repairs`, keyOf(other), i));
      await (await fetch(service.url + path, { method: 'POST', headers, body })).text();
    }
    const kinds = {
      lists: () => afresh(reading(`${BASE_PATH}/offline-repairs`, keyOf(other))),
      filtered: () => afresh(reading(`${BASE_PATH}/offline-repairs?storeId=store-7`, keyOf(other))),
    };
    await trickle(service.url, kinds, SECONDS);
    const found: Row[] = [];
    for (const [name, path] of Object.entries(pathsOf(rows))) {
      const own = { own: () => afresh(reading(BASE_PATH + path, keyOf(greedy))) };
      const alone = (await trickle(service.url, own, SECONDS)).times['own'] ?? [];
      const idle = await trickle(service.url, kinds, SECONDS);
      const order = {
        url: service.url,
        key: greedy.apiKey,
        paths: [BASE_PATH + path],
        callers: CALLERS,
        slowReaders: 0,
      };
      const child = await startGreedy(order);
      const busy = await trickle(service.url, kinds, SECONDS);
      await child.stop();
      const figure = (times: number[] = [], share: number) => percentile(times, share).toFixed(1);
      process.stdout.write(
        `${engine}, ${name}: alone p50 ${figure(alone, 0.5)}, p99 ${figure(alone, 0.99)} ms; others ${Object.keys(
          kinds,
        )
          .map(
            (kind) =>
              `${kind} p99 ${figure(idle.times[kind], 0.99)} idle, ${figure(busy.times[kind], 0.99)} busy`,
          )
          .join('; ')}; failures ${busy.failures.length}\n`,
      );
      for (const kind of Object.keys(kinds))
        found.push({
          work: `p99 of another shop's ${kind} while ${CALLERS} callers repeat ${name}`,
          engine,
          measured: percentile(busy.times[kind] ?? [], 0.99),
          unit: 'ms',
          baseline: { name: 'idle', value: percentile(idle.times[kind] ?? [], 0.99) },
          goal: { bound: 'most', value: 5 },
        });
    }
    return { rows: found };
  },
};
