import { createHmac } from 'node:crypto';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { repairBody, tradeBody } from '../../support/bodies.ts';
import { effort, measured } from '../../support/faults.ts';
import {
  firstSchema,
  type OldRepair,
  type OldShop,
  PASSWORD,
  WEBHOOK_SECRET,
} from '../../support/first-schema.ts';
import { type Answer, ENGINE } from '../../support/harness.ts';
import { lookInto, migratedDatabase, type ServerProcess, startServer } from '../../support/process.ts';
import { startReceiver } from '../../support/receiver.ts';
import { addShops } from '../../support/shops.ts';
import { until } from '../../support/until.ts';
import { wholeTables } from '../../support/whole-tables.ts';

const PROCESSES = ENGINE === 'postgres' ? 2 : 1;
const CALLERS = 6;

/** Every page of a list. */
const allOf = async (
  get: (path: string) => Promise<Answer>,
  path: string,
): Promise<Record<string, unknown>[]> => {
  const items: Record<string, unknown>[] = [];
  for (let page = 1; ; page++) {
    const { status, body } = await get(`${path}?limit=100&page=${page}`);
    expect([path, page, status]).toEqual([path, page, 200]);
    items.push(...body.items);
    if (page >= body.totalPages) return items;
  }
};

const asShown = ({ id, number, status, orderNumber, at }: OldRepair) =>
  expect.objectContaining({
    ...{ id, status, orderNumber, rmaNumber: `#RMA-${String(number).padStart(6, '0')}` },
    ...{ customerName: 'Ada Pereira', faultDescription: 'Does not heat up', storeId: 'store-7' },
    faultyItem: expect.objectContaining({ sku: 'KETTLE-17', price: 49.95 }),
    createdAt: new Date(at).toISOString(),
    updatedAt: new Date(at + 1).toISOString(),
  });

const newestFirst = ({ repairs }: OldShop) => repairs.map(asShown).reverse();

/** Reads everything that programs can see of a shop; gives back how many rows that were. */
const readAsProgram = async (server: ServerProcess, shop: OldShop): Promise<number> => {
  const get = (path: string) => server.get(path, { key: shop.key });
  expect(await allOf(get, '/offline-repairs')).toEqual(newestFirst(shop));
  for (const { id, status } of shop.repairs) {
    const { body } = await get(`/offline-repairs/${id}/timeline`);
    expect(body.items).toMatchObject([{ type: 'CREATED' }, { type: 'STATUS_CHANGED', toStatus: status }]);
  }
  for (const key of shop.keys.slice(0, effort(3, 50))) {
    const headers = { 'idempotency-key': key };
    const { status } = await server.post('/offline-repairs', repairBody(), { key: shop.key, headers });
    expect(status).toBe(422);
  }
  const { body } = await get('/usage');
  expect(body.used).toBe(shop.repairs.length);
  return shop.repairs.length * 3;
};

/** The same for the admin app. */
const readAsAdmin = async (server: ServerProcess, shop: OldShop): Promise<number> => {
  const session = await server.post('/admin/api/session', { email: shop.email, password: PASSWORD });
  expect(session.status).toBe(200);
  const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? '';
  const get = (path: string) => server.get(path, { headers: { cookie } });
  expect(await allOf(get, '/admin/api/offline-repairs')).toEqual(newestFirst(shop));
  const [clients, users, goods, overview] = await Promise.all(
    ['clients', 'users', 'dangerous-goods', 'overview'].map((path) => get(`/admin/api/${path}`)),
  );
  expect(JSON.stringify(clients?.body)).toContain(shop.clientId);
  expect(JSON.stringify(users?.body)).toContain(shop.email);
  for (const pattern of shop.goods) expect(JSON.stringify(goods?.body)).toContain(pattern);
  expect(overview?.status).toBe(200);
  return shop.goods.length + 2;
};

it('a filled database of the first schema is upgraded by processes that start at once', {
  timeout: 300_000,
}, async () => {
  const receiver = await startReceiver();
  const { env, shops } = await firstSchema(effort(2, 8), effort(12, 250), receiver.url);
  const settings = { ...env, WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' };
  const servers = await Promise.all(Array.from({ length: PROCESSES }, () => startServer(settings)));
  const serverOf = (i: number) => servers[i % servers.length] as ServerProcess;
  let rows = 0;
  for (const [i, shop] of shops.entries()) {
    rows += await readAsProgram(serverOf(i), shop);
    rows += await readAsAdmin(serverOf(i + 1), shop);
  }
  // Whatever was there goes on: moves, the feed and webhooks.
  for (const [i, { key, repairs }] of shops.entries()) {
    const id = repairs[0]?.id as string;
    const moved = await serverOf(i).post(`/offline-repairs/${id}/close`, {}, { key });
    expect([moved.status, moved.body.status]).toEqual([200, 'OFFLINE_CLOSED']);
    const { body } = await serverOf(i + 1).get('/events', { key });
    expect(body.items).toMatchObject([{ event: 'offline_repair.closed', data: { id } }]);
    const created = await serverOf(i).post('/offline-repairs', repairBody(), { key });
    expect(created.body.rmaNumber).toBe(`#RMA-${String(repairs.length + 1).padStart(6, '0')}`);
  }
  const received = await receiver.got(2 * shops.length, 30_000);
  for (const { bytes, headers } of received)
    expect(headers['x-webhook-signature']).toBe(
      createHmac('sha256', WEBHOOK_SECRET).update(bytes).digest('hex'),
    );
  const kept = await lookInto(env)
    .selectFrom('installation')
    .select('value')
    .where('name', '=', 'kept-since-then')
    .execute();
  expect(kept).toEqual([{ value: 'yes' }]);
  measured(20, `${rows} rows of the first schema readable; processes that upgraded it at once: ${PROCESSES}`);
});

/** One caller who does a bit of everything, again and again, until told to stop. */
const caller = async (
  server: ServerProcess,
  key: string,
  isOver: () => boolean,
  answers: Answer[],
): Promise<void> => {
  const ask = async (call: Promise<Answer>) => {
    const answer = await call;
    answers.push(answer);
    return answer;
  };
  while (!isOver()) {
    const { body } = await ask(server.post('/offline-repairs', repairBody(), { key }));
    await ask(server.get(`/offline-repairs/${body.id}`, { key }));
    await ask(server.post(`/offline-repairs/${body.id}/begin-repair`, { assignedToId: 'tech-1' }, { key }));
    await ask(server.get(`/offline-repairs/${body.id}/timeline`, { key }));
    await ask(server.get('/events?limit=2', { key }));
    await ask(server.get('/deliveries?limit=2', { key }));
    await ask(server.get('/offline-repairs?limit=5', { key }));
    await ask(server.get('/offline-repairs?updatedSince=2026-01-01T00:00:00.000Z&limit=2', { key }));
    await ask(server.post('/trade-returns', tradeBody(), { key, headers: { 'idempotency-key': body.id } }));
    await ask(server.get('/trade-returns?status=TRADE_SUBMITTED&limit=3', { key }));
  }
};

it('a column that an upgrade adds to each table is noticed by nobody', { timeout: 300_000 }, async () => {
  const receiver = await startReceiver();
  const env = { ...(await migratedDatabase()), WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' };
  const [one] = await addShops(env, 1, () => receiver.url);
  const key = one?.client.apiKey ?? '';
  const server = await startServer(env);
  const db = lookInto(env);
  const tables = await wholeTables(db);

  const answers: Answer[] = [];
  let isOver = false;
  const callers = Array.from({ length: CALLERS }, () => caller(server, key, () => isOver, answers));
  await until('the load is on', () => answers.length > 60, 30_000);
  for (const { name } of tables) {
    const before = answers.length;
    // As a migration would: one that must wait long gives up and tries again, so that nobody queues behind it.
    await until(`a column is added to ${name}`, () =>
      db.connection().execute(async (alone) => {
        if (ENGINE === 'postgres') await sql`set lock_timeout = 500`.execute(alone);
        return sql`alter table ${sql.table(name)} add column added_later text`.execute(alone).then(
          () => true,
          () => false,
        );
      }),
    );
    await until(
      `requests were answered after ${name}`,
      () => answers.length > before + effort(12, 100),
      60_000,
    );
  }
  isOver = true;
  await Promise.all(callers);
  const failed = answers.filter(({ status }) => status >= 400);
  expect(failed.map(({ status, body }) => ({ status, body }))).toEqual([]);
  expect(tables.length).toBeGreaterThan(12);
  const created = answers.filter(({ status }) => status === 201).length;
  await receiver.got(created, 30_000);
  measured(20, `${answers.length} answers while ${tables.length} tables got a column, 0 of them ≥ 500`);
});
