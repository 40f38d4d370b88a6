import type { AddressInfo } from 'node:net';
import { fastify } from 'fastify';
import type { Engine } from '../engines.ts';
import { openPostgresStore } from './postgres-store.ts';
import { MOVES, type MoveName, newRepair, viewOf } from './repair.ts';
import { REPAIR_BODY, type RepairBody } from './repair-body.ts';
import { openSqliteStore } from './sqlite-store.ts';

// The baselines L0, L2, M2, L3, L4n (PostgreSQL) and S2, SM2, S3, S4n (SQLite): bare Fastify over one prepared statement or one
// transaction. No keys, no limits, no rules: the shop is believed from a header.

const [engine, address] = process.argv.slice(2) as [Engine, string];
const store = engine === 'postgres' ? openPostgresStore(address) : openSqliteStore(address);

const app = fastify();
const shopOf = (headers: Record<string, unknown>): string => headers['x-shop'] as string;
const schema = { body: REPAIR_BODY };

app.post<{ Body: RepairBody }>('/validated', { schema }, (request, reply) => {
  reply.code(201).send(viewOf(newRepair(shopOf(request.headers), request.body)));
});

app.post<{ Body: RepairBody }>('/offline-repairs', { schema }, async (request, reply) => {
  const repair = newRepair(shopOf(request.headers), request.body);
  await store.create(repair);
  reply.code(201);
  return viewOf(repair);
});

app.post<{ Params: { id: string; move: MoveName } }>('/offline-repairs/:id/:move', async (request, reply) => {
  const { id, move } = request.params;
  const repair = await store.move(shopOf(request.headers), id, MOVES[move]);
  if (repair) return viewOf(repair);
  reply.code(404);
  return { message: 'Not found' };
});

app.get<{ Params: { id: string } }>('/offline-repairs/:id', async (request, reply) => {
  const repair = await store.get(shopOf(request.headers), request.params.id);
  if (repair) return viewOf(repair);
  reply.code(404);
  return { message: 'Not found' };
});

app.get('/offline-repairs', async (request) => ({
  items: (await store.page(shopOf(request.headers))).map(viewOf),
  page: 1,
  limit: 20,
}));

await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`listening on ${(app.server.address() as AddressInfo).port}\n`);
