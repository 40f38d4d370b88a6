import { setTimeout as pause } from 'node:timers/promises';
import type { SignedIn } from './admin-process.ts';
import { repairBody, tradeBody } from './bodies.ts';
import type { Answer } from './harness.ts';
import type { ServerProcess } from './process.ts';

// What a few shops' programs and people do all day, at a steady pace.

export interface LoadedShop {
  key: string;
  admin: SignedIn;
}

/** Answers by status, and those of them that should not have come. */
export interface Tally {
  requests: number;
  failed: string[];
}

type Step = (server: ServerProcess, shop: LoadedShop, n: number, memory: Memory) => Promise<Answer>;
/** What one caller remembers of the answers before. */
interface Memory {
  id: string;
  cursor: string | null;
}

const STEPS: readonly Step[] = [
  async (server, { key }, n, memory) => {
    const answer = await server.post('/offline-repairs', repairBody({ externalRef: `ref-${n}` }), { key });
    memory.id = answer.body.id ?? memory.id;
    return answer;
  },
  (server, { key }, _n, { id }) => server.post(`/offline-repairs/${id}/begin-repair`, undefined, { key }),
  (server, { key }, _n, { id }) => server.get(`/offline-repairs/${id}`, { key }),
  (server, { key }, n) => server.get(`/offline-repairs?limit=20&page=${1 + (n % 5)}`, { key }),
  (server, { key }) => server.post('/trade-returns', tradeBody(), { key }),
  async (server, { key }, _n, memory) => {
    const after = memory.cursor ? `&after=${memory.cursor}` : '';
    const answer = await server.get(`/events?limit=100${after}`, { key });
    memory.cursor = answer.body.cursor ?? memory.cursor;
    return answer;
  },
  (server, { key }, _n, { id }) => server.get(`/offline-repairs/${id}/timeline`, { key }),
  (server, { admin }) => admin.get(server, '/offline-repairs?q=Pereira&limit=20'),
  (server, { key }, _n, { id }) => server.post(`/offline-repairs/${id}/close`, undefined, { key }),
  (server, { key }) => server.get('/usage', { key }),
  (server, { admin }) => admin.get(server, '/overview'),
  (server, { key }) => server.get('/deliveries?limit=20', { key }),
];

/** One caller, who begins a request every so often, or as soon as the one before is answered. */
const caller = async (
  server: ServerProcess,
  shop: LoadedShop,
  everyMs: number,
  isOver: () => boolean,
  tally: Tally,
) => {
  const memory: Memory = { id: '', cursor: null };
  for (let n = 0; !isOver(); n++) {
    const startedAt = performance.now();
    const { status, body } = await (STEPS[n % STEPS.length] as Step)(server, shop, n, memory);
    tally.requests += 1;
    if (status >= 400) tally.failed.push(`step ${n % STEPS.length}: ${status} ${body.code ?? ''}`);
    await pause(Math.max(0, everyMs - (performance.now() - startedAt)));
  }
};

/** A caller for each shop, until it is over. */
export const mixedLoad = async (
  server: ServerProcess,
  shops: LoadedShop[],
  everyMs: number,
  isOver: () => boolean,
): Promise<Tally> => {
  const tally: Tally = { requests: 0, failed: [] };
  await Promise.all(shops.map((shop) => caller(server, shop, everyMs, isOver, tally)));
  return tally;
};

/** So many large repairs of each shop: the database is larger than its caches from then on. */
export const fillDatabase = async (server: ServerProcess, shops: LoadedShop[], repairs: number) => {
  const text = 'x'.repeat(5_000);
  const body = repairBody({ notes: text, faultDescription: text });
  for (const { key } of shops)
    for (let made = 0; made < repairs; made += 20)
      await Promise.all(Array.from({ length: 20 }, () => server.post('/offline-repairs', body, { key })));
};

/** Looks through all of it, which fills the caches. */
export const readAll = async (server: ServerProcess, shops: LoadedShop[]) => {
  for (const { admin } of shops) await admin.get(server, '/offline-repairs?q=nobody');
};
