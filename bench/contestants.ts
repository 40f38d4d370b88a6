import { BASE_PATH } from '../contract/common.ts';
import { type LoadFigures, load } from './load/load.ts';
import { creation, manyRequests, type Request, reading } from './requests.ts';
import type { Contestant } from './rounds.ts';
import type { SeededShop } from './seed.ts';
import { type Baseline, type House, MANY_SHOPS } from './stage.ts';

// Who is measured: the service or a baseline, doing one kind of work over and over.

export const CONNECTIONS = 64;
const REPAIRS = `${BASE_PATH}/offline-repairs`;

type Work = Contestant<keyof LoadFigures>;

const under =
  (url: string, make: (i: number) => Request, connections = CONNECTIONS): Work =>
  (seconds) =>
    load({ url, requests: () => manyRequests(make) }, { connections, seconds });

const keyOf = ({ apiKey }: SeededShop) => ({ 'x-api-key': apiKey });
const spread = (i: number, over: number): number => ((i * 7919) % over) + 1;

export const serviceWork = ({ service, rmas }: House, connections = CONNECTIONS) => {
  const { shops, repairs } = rmas;
  return {
    createOver: (some: SeededShop[] = shops) =>
      under(
        service.url,
        (i) => creation(REPAIRS, keyOf(some[i % some.length] as SeededShop), i),
        connections,
      ),
    get: (suffix = '') =>
      under(
        service.url,
        (i) => {
          const n = spread(i, repairs);
          return reading(`${REPAIRS}/${rmas.idOf(n)}${suffix}`, keyOf(rmas.shopOf(n)));
        },
        connections,
      ),
    list: (query: (i: number) => string) =>
      under(
        service.url,
        (i) => reading(REPAIRS + query(i), keyOf(shops[i % shops.length] as SeededShop)),
        connections,
      ),
  };
};

export const baselineWork = ({ url, shop, repair, repairs }: Baseline, connections = CONNECTIONS) => ({
  validate: under(url, (i) => creation('/validated', { 'x-shop': shop(1) }, i), connections),
  create: under(
    url,
    (i) => creation('/offline-repairs', { 'x-shop': shop((i % MANY_SHOPS) + 1) }, i),
    connections,
  ),
  get: under(
    url,
    (i) => reading(`/offline-repairs/${repair(spread(i, repairs))}`, { 'x-shop': shop(1) }),
    connections,
  ),
  page: under(url, () => reading('/offline-repairs', { 'x-shop': shop(1) }), connections),
});
