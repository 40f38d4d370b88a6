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

const loading =
  (url: string, make: (i: number) => Request, connections: number): Work =>
  (seconds) =>
    load({ url, requests: () => manyRequests(make) }, { connections, seconds });

const keyOf = ({ apiKey }: SeededShop) => ({ 'x-api-key': apiKey });
/** To and fro. */
const aMove = (path: string, headers: Record<string, string>, i: number): Request => ({
  method: 'POST',
  path: `${path}/${i % 2 === 0 ? 'begin-repair' : 'begin-diagnostics'}`,
  headers,
});
const spread = (i: number, over: number): number => ((i * 7919) % over) + 1;

export const serviceWork = ({ service, rmas }: House, connections = CONNECTIONS) => {
  const { shops, repairs } = rmas;
  const creating = (some: SeededShop[], i: number): Request =>
    creation(REPAIRS, keyOf(some[i % some.length] as SeededShop), i);
  const getting = (suffix: string, i: number): Request => {
    const n = spread(i, repairs);
    return reading(`${REPAIRS}/${rmas.idOf(n)}${suffix}`, keyOf(rmas.shopOf(n)));
  };
  const under = (make: (i: number) => Request) => loading(service.url, make, connections);
  return {
    createOver: (some: SeededShop[] = shops) => under((i) => creating(some, i)),
    get: (suffix = '') => under((i) => getting(suffix, i)),
    /** Moves repairs to and fro; only those for which `isOne` holds. */
    move(isOne: (n: number) => boolean = () => true) {
      const some = Array.from({ length: repairs }, (_, i) => i + 1).filter(isOne);
      return under((i) => {
        const n = some[spread(i, some.length) - 1] as number;
        return aMove(`${REPAIRS}/${rmas.idOf(n)}`, keyOf(rmas.shopOf(n)), i);
      });
    },
    createAndGet: () => under((i) => (i % 2 === 0 ? creating(shops, i) : getting('', i))),
    list: (query: (i: number) => string) =>
      under((i) => reading(REPAIRS + query(i), keyOf(shops[i % shops.length] as SeededShop))),
  };
};

export const baselineWork = ({ url, shop, repair, repairs, moving }: Baseline, connections = CONNECTIONS) => {
  const under = (make: (i: number) => Request) => loading(url, make, connections);
  return {
    validate: under((i) => creation('/validated', { 'x-shop': shop(1) }, i)),
    create: under((i) => creation('/offline-repairs', { 'x-shop': shop((i % MANY_SHOPS) + 1) }, i)),
    move: under((i) => {
      const n = repairs + spread(i, moving.repairs);
      return aMove(`/offline-repairs/${repair(n)}`, { 'x-shop': moving.shopOf(n) }, i);
    }),
    get: under((i) => reading(`/offline-repairs/${repair(spread(i, repairs))}`, { 'x-shop': shop(1) })),
    page: under(() => reading('/offline-repairs', { 'x-shop': shop(1) })),
  };
};
