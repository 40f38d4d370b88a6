import { ADMIN_BASE_PATH } from '../../contract/admin-people.ts';
import { BASE_PATH } from '../../contract/common.ts';
import { createUser } from '../../src/staff/users.ts';
import { median } from '../figures.ts';
import type { Measurement, Row } from '../measurement.ts';
import { OPERATOR, within } from '../seed.ts';
import type { House } from '../stage.ts';

// Pages of the largest shop that may take noticeable time, asked for one after another.

const TIMES = 5;
/** A heavy page holds other requests up by at most this. */
const MOST_BESIDE_MS = 20;
const ACCOUNT = { email: 'admin@large.example', password: 'a password for benchmarks' };

const PAGES: { work: string; path: string; mostMs: number }[] = [
  { work: 'page 1,000', path: `${BASE_PATH}/offline-repairs?page=1000`, mostMs: 50 },
  { work: 'admin overview', path: `${ADMIN_BASE_PATH}/overview`, mostMs: 300 },
  ...[
    ['admin search for a number', '%23RMA-000777'],
    ['admin search for a part of a sku', 'sku-17'],
    ['admin search that finds nothing', 'nowhere-to-be-found'],
  ].map(([work, q]) => ({
    work: work as string,
    path: `${ADMIN_BASE_PATH}/offline-repairs?q=${q}`,
    mostMs: 300,
  })),
];

export const largeShop: Measurement = {
  name: 'large-shop',
  engines: ['postgres', 'sqlite'],
  async run(stage) {
    const { engine, effort } = stage;
    const house = await stage.oneShop(effort.large);
    const headers = { cookie: await signIn(house), 'x-api-key': house.rmas.shops[0]?.apiKey ?? '' };
    const times = new Map<string, number[]>(PAGES.map(({ path }) => [path, []]));
    for (let round = 0; round < effort.rounds; round++)
      for (const { path } of PAGES)
        for (let i = 0; i < TIMES; i++)
          times.get(path)?.push(await timeOf(house.service.url + path, headers));
    const beside: number[] = [];
    for (const { path } of PAGES)
      for (let i = 0; i < TIMES; i++) beside.push(await slowestBeside(house, path, headers));
    const shop = `${effort.large.toLocaleString('en')} RMAs in one shop`;
    const rowOf = (work: string, measured: number, mostMs: number): Row => ({
      work: `${work}, ${shop}`,
      engine,
      measured,
      unit: 'ms',
      goal: { bound: 'most', value: mostMs },
    });
    return {
      rows: [
        ...PAGES.map(({ work, path, mostMs }) => rowOf(work, median(times.get(path) ?? []), mostMs)),
        rowOf('slowest get beside one of these pages: median', median(beside), MOST_BESIDE_MS),
      ],
    };
  },
};

/** Reads one repair after the other until the page is there, and gives back how long the slowest of them took. */
const slowestBeside = async (
  { service, rmas }: House,
  path: string,
  headers: Record<string, string>,
): Promise<number> => {
  let isThere = false;
  const page = timeOf(service.url + path, headers).finally(() => {
    isThere = true;
  });
  let slowest = 0;
  for (let n = 1; !isThere; n++) {
    const url = `${service.url}${BASE_PATH}/offline-repairs/${rmas.idOf(n)}`;
    slowest = Math.max(slowest, await timeOf(url, { ...headers, 'x-forwarded-for': `10.200.0.${n % 250}` }));
  }
  await page;
  return slowest;
};

const signIn = async ({ database, service, rmas }: House): Promise<string> => {
  await within(database, (ctx) =>
    createUser(ctx, OPERATOR, { shopId: rmas.shops[0]?.id ?? '', role: 'ADMIN', ...ACCOUNT }),
  );
  const response = await fetch(`${service.url}${ADMIN_BASE_PATH}/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(ACCOUNT),
  });
  return response.headers.get('set-cookie')?.split(';')[0] ?? '';
};

const timeOf = async (url: string, headers: Record<string, string>): Promise<number> => {
  const start = performance.now();
  const response = await fetch(url, { headers });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text}`);
  return performance.now() - start;
};
