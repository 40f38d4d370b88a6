import { ADMIN_BASE_PATH } from '../../contract/admin-people.ts';
import { BASE_PATH } from '../../contract/common.ts';
import { hashPassword } from '../../src/staff/passwords.ts';
import { addUser } from '../../src/staff/users.ts';
import { median, percentile } from '../figures.ts';
import type { Measurement, Row } from '../measurement.ts';
import { OPERATOR, within } from '../seed.ts';
import type { House } from '../stage.ts';

// Pages of the largest shop that may take noticeable time, asked for one after another, and how long others wait beside them.

const TIMES = 5;
const ACCOUNT = { email: 'admin@large.example', password: 'a password for benchmarks' };

const PAGES: { work: string; path: string; mostMs: number }[] = [
  { work: 'page 1,000', path: `${BASE_PATH}/offline-repairs?page=1000`, mostMs: 50 },
  { work: 'admin overview', path: `${ADMIN_BASE_PATH}/overview`, mostMs: 300 },
  {
    work: 'admin search over both kinds that finds nothing',
    path: `${ADMIN_BASE_PATH}/search?q=nowhere-to-be-found`,
    mostMs: 300,
  },
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
    const size = `${effort.large.toLocaleString('en')} RMAs in one shop`;
    const times = new Map<string, number[]>(PAGES.map(({ path }) => [path, []]));
    const ask = async (pages: typeof PAGES) => {
      for (let round = 0; round < effort.rounds; round++)
        for (const { path } of pages)
          for (let i = 0; i < TIMES; i++)
            times.get(path)?.push(await timeOf(house.service.url + path, headers));
    };
    await ask(PAGES);
    const rows = PAGES.map(
      ({ work, path, mostMs }): Row => ({
        work: `${work}, ${size}`,
        engine,
        measured: median(times.get(path) ?? []),
        unit: 'ms',
        goal: { bound: 'most', value: mostMs },
      }),
    );
    const adminPages = PAGES.filter(({ path }) => path.startsWith(ADMIN_BASE_PATH));
    const beside: Row = {
      work: `get beside the admin overview and searches: p99, ${size}`,
      engine,
      measured: percentile(await getsBeside(house, ask(adminPages)), 0.99),
      unit: 'ms',
      goal: { bound: 'most', value: 20 },
    };
    return { rows: [...rows, beside] };
  },
};

/** How long gets of one repair take, one after another, until the other work ends. */
const getsBeside = async ({ service, rmas }: House, work: Promise<void>): Promise<number[]> => {
  let isOver = false;
  const ended = work.finally(() => {
    isOver = true;
  });
  const times: number[] = [];
  for (let i = 0; !isOver; i++)
    times.push(
      await timeOf(`${service.url}${BASE_PATH}/offline-repairs/${rmas.idOf(1)}`, {
        'x-api-key': rmas.shopOf(1).apiKey,
        'x-forwarded-for': `10.9.${(i >> 8) & 255}.${i & 255}`,
      }),
    );
  await ended;
  return times;
};

const signIn = async ({ database, service, rmas }: House): Promise<string> => {
  const { email, password } = ACCOUNT;
  const passwordHash = await hashPassword(password);
  const user = { shopId: rmas.shops[0]?.id ?? '', email, name: null, role: 'ADMIN', passwordHash } as const;
  await within(database, (ctx) => ctx.db.transaction().execute((trx) => addUser(ctx, trx, OPERATOR, user)));
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
