import { ADMIN_BASE_PATH } from '../../contract/admin-people.ts';
import { BASE_PATH } from '../../contract/common.ts';
import { createUser } from '../../src/staff/users.ts';
import { median } from '../figures.ts';
import type { Measurement, Row } from '../measurement.ts';
import { OPERATOR, within } from '../seed.ts';
import type { House } from '../stage.ts';

// Pages of the largest shop that may take noticeable time, asked for one after another.

const TIMES = 5;
const ACCOUNT = { email: 'admin@large.example', password: 'a password for benchmarks' };

const PAGES: { work: string; path: string; mostMs: number }[] = [
  { work: 'page 1,000', path: `${BASE_PATH}/offline-repairs?page=1000`, mostMs: 50 },
  { work: 'admin overview', path: `${ADMIN_BASE_PATH}/overview`, mostMs: 200 },
  ...[
    ['admin search for a number', '%23RMA-000777'],
    ['admin search for a part of a sku', 'sku-17'],
    ['admin search that finds nothing', 'nowhere-to-be-found'],
  ].map(([work, q]) => ({
    work: work as string,
    path: `${ADMIN_BASE_PATH}/offline-repairs?q=${q}`,
    mostMs: 200,
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
    return {
      rows: PAGES.map(
        ({ work, path, mostMs }): Row => ({
          work: `${work}, ${effort.large.toLocaleString('en')} RMAs in one shop`,
          engine,
          measured: median(times.get(path) ?? []),
          unit: 'ms',
          goal: { bound: 'most', value: mostMs },
        }),
      ),
    };
  },
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
