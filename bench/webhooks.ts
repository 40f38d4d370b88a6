import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { BASE_PATH } from '../contract/common.ts';
import { readConfig } from '../src/config.ts';
import { openDatabase } from '../src/db/open.ts';
import { newId } from '../src/ids.ts';
import { repairBody } from '../test/support/bodies.ts';
import { percentile, printTable } from './figures.ts';
import { type Engine, type Service, startService } from './service.ts';

// How soon a receiver hears of a change, and what becomes of that when another receiver hangs. All on loopback. The commit
// cannot be seen from outside; it lies between the change's own timestamp and the 201, so arrivals are measured from both.

const EVENTS_A_SECOND = 50;
const SECONDS = 10;
const HANGING_BACKLOG = 1_000;
const OTHERS = 19;
const LARGE_BACKLOG = 100_000;

const now = () => performance.timeOrigin + performance.now();
/** When the 201 of each repair came. */
const acknowledgedAt = new Map<string, number>();

const startReceiver = async (answer: (response: ServerResponse) => void) => {
  const arrivals: { at: number; id: string; changedAt: number; endedAt: number }[] = [];
  const server = createServer(async (request, response) => {
    const at = now();
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    answer(response);
    const { timestamp, data } = JSON.parse(text);
    arrivals.push({ at, id: data.id, changedAt: Date.parse(timestamp), endedAt: now() });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    arrivals,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};
type Receiver = Awaited<ReturnType<typeof startReceiver>>;
const ok = (response: ServerResponse) => void response.writeHead(204).end();

let caller = 0;
const create = async (service: Service, key: string): Promise<void> => {
  caller += 1;
  const response = await fetch(`${service.url}${BASE_PATH}/offline-repairs`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': key,
      'x-forwarded-for': `10.${(caller >> 16) & 255}.${(caller >> 8) & 255}.${caller & 255}`,
    },
    body: JSON.stringify(repairBody()),
  });
  const at = now();
  const { id } = (await response.json()) as { id: string };
  acknowledgedAt.set(id, at);
  if (response.status !== 201) throw new Error(`creating answered ${response.status}`);
};

/** A steady stream of creations, shared out among the keys. */
const stream = async (service: Service, keys: string[]): Promise<void> => {
  const start = performance.now();
  const all: Promise<void>[] = [];
  for (let i = 0; i < EVENTS_A_SECOND * SECONDS; i++) {
    await pause(Math.max(0, start + (i * 1000) / EVENTS_A_SECOND - performance.now()));
    all.push(create(service, keys[i % keys.length] as string));
  }
  await Promise.all(all);
  await pause(500);
};

interface Latencies {
  fromChange: number[];
  from201: number[];
}
const latencies = (receivers: Receiver[]): Latencies => {
  const all = receivers.flatMap(({ arrivals }) => arrivals.splice(0));
  return {
    fromChange: all.map(({ at, changedAt }) => at - changedAt),
    from201: all.map(({ at, id }) => Math.max(0, at - (acknowledgedAt.get(id) ?? at))),
  };
};

const addReceiver = (service: Service, shopId: string, url: string): { id: string; apiKey: string } =>
  service.cli('client', 'create', '--shop', shopId, '--name', 'R', '--webhook-url', url);

const enqueue = async (service: Service, clientId: string, count: number): Promise<void> => {
  const database = openDatabase(readConfig(service.env), () => {});
  const queuedAt = Date.now();
  const body = JSON.stringify({
    event: 'offline_repair.closed',
    timestamp: new Date(queuedAt).toISOString(),
    data: {},
  });
  for (let done = 0; done < count; done += 1000)
    await database.db
      .insertInto('webhook_deliveries')
      .values(
        Array.from({ length: Math.min(1000, count - done) }, () => ({
          id: newId(queuedAt),
          client_id: clientId,
          rma_id: newId(queuedAt),
          event: 'offline_repair.closed' as const,
          body,
          status: 'PENDING' as const,
          attempts: 0,
          attempt_log: '[]',
          due_at: queuedAt,
          created_at: queuedAt,
        })),
      )
      .execute();
  await database.close();
};

const measure = async (engine: Engine): Promise<(string | number)[][]> => {
  const service = await startService(engine);
  const shop = service.cli('shop', 'create', '--name', 'Bench', '--plan', 'ENTERPRISE');
  const others = await Promise.all(Array.from({ length: OTHERS }, () => startReceiver(ok)));
  const keys = others.map(({ url }) => addReceiver(service, shop.id, url).apiKey);
  const rows: (string | number)[][] = [];
  const row = (what: string, { fromChange, from201 }: Latencies, goal: string) => {
    rows.push([
      engine,
      `${what}, from the change`,
      percentile(fromChange, 0.5),
      percentile(fromChange, 0.99),
      '',
    ]);
    rows.push([engine, `${what}, from the 201`, percentile(from201, 0.5), percentile(from201, 0.99), goal]);
  };

  await stream(service, keys);
  latencies(others);
  await stream(service, keys);
  const quiet = latencies(others);
  row(`${EVENTS_A_SECOND} events/s`, quiet, 'p50 < 5, p99 < 20');

  const hanging = await startReceiver(() => {});
  const hangingClient = addReceiver(service, shop.id, hanging.url);
  await enqueue(service, hangingClient.id, HANGING_BACKLOG);
  await stream(service, keys);
  const disturbed = latencies(others);
  row(`the same while 1 of 20 hangs with ${HANGING_BACKLOG} waiting`, disturbed, 'p99 at most 1.3 times');
  rows.push([
    engine,
    'p99 ratio',
    '',
    percentile(disturbed.from201, 0.99) / percentile(quiet.from201, 0.99),
    'at most 1.3',
  ]);

  const before = service.memoryMb();
  await enqueue(service, hangingClient.id, LARGE_BACKLOG);
  await stream(service, keys);
  row(`the same with ${LARGE_BACKLOG} waiting`, latencies(others), '');
  rows.push([engine, 'memory before and with that backlog, MB', before, service.memoryMb(), 'flat']);

  hanging.close();
  for (const { close } of others) close();
  await service.stop();

  const idle = await startService(engine);
  const refusing = await startReceiver((response) => void response.writeHead(500).end());
  const shop2 = idle.cli('shop', 'create', '--name', 'Bench');
  await create(idle, addReceiver(idle, shop2.id, refusing.url).apiKey);
  while (refusing.arrivals.length < 4) await pause(100);
  const gaps = refusing.arrivals.slice(1).map(({ at }, i) => at - (refusing.arrivals[i]?.endedAt ?? 0));
  rows.push([
    engine,
    `gaps between four attempts, ms: ${gaps.map(Math.floor).join(', ')}`,
    '',
    '',
    '1000, 4000, 16000: -0/+250',
  ]);
  refusing.close();
  await idle.stop();
  return rows;
};

const rows = [...(await measure('sqlite')), ...(await measure('postgres'))];
printTable(['engine', 'what', 'p50', 'p99', 'goal'], rows);
