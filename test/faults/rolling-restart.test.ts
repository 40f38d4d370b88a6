import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BASE_PATH } from '../../contract/common.ts';
import { repairBody } from '../support/bodies.ts';
import { HAPROXY_IS_THERE, startProxy } from '../support/haproxy.ts';
import { ENGINE } from '../support/harness.ts';
import { freePort } from '../support/postgres-server.ts';
import { migratedDatabase, startServer, timed } from '../support/process.ts';
import { startReceiver } from '../support/receiver.ts';
import { addClient, makeShop } from '../support/shops.ts';
import { until } from '../support/until.ts';

/** A short run in the suite; `npm run test:restarts` makes a long one. */
const ROUNDS = Number(process.env['RESTARTS'] ?? 2);
const CALLERS = 6;
const PAUSE_MS = 100;
const say = (line: string) => process.stderr.write(`${line}\n`);
if (ENGINE === 'postgres' && !HAPROXY_IS_THERE)
  say('haproxy is not installed: rolling restarts are not tried (apt-get install haproxy)');

interface Answered {
  status: number;
  body: string;
}

/** Calls as a till does, over connections that it keeps. */
const caller = (url: string) => {
  const agent = new Agent({ keepAlive: true, maxSockets: CALLERS });
  onTestFinished(() => agent.destroy());
  let calls = 0;
  return (key: string) =>
    (method: string, path: string, body?: object): Promise<Answered> =>
      new Promise((resolve, reject) => {
        calls += 1;
        const headers = {
          'x-api-key': key,
          'x-forwarded-for': `10.${(calls >> 16) & 255}.${(calls >> 8) & 255}.${calls & 255}`,
          ...(body ? { 'content-type': 'application/json' } : {}),
        };
        const asking = request(`${url}${BASE_PATH}${path}`, { method, agent, headers }, (answer) => {
          let text = '';
          answer.setEncoding('utf8').on('data', (piece) => {
            text += piece;
          });
          answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: text })).on('error', reject);
        });
        asking.on('error', reject).end(body ? JSON.stringify(body) : undefined);
      });
};

describe.runIf(ENGINE === 'postgres' && HAPROXY_IS_THERE)('rolling restarts behind a proxy', () => {
  it(`lose no request and no event: ${ROUNDS} rounds under load`, {
    timeout: ROUNDS * 60_000 + 60_000,
  }, async () => {
    const receiver = await startReceiver();
    const database = await migratedDatabase();
    const { shopId } = await makeShop(database, { plan: 'ENTERPRISE' });
    const env = { ...database, WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true', DRAIN_SECONDS: '4' };
    const newClient = (name: string) => addClient(env, shopId, { name, webhookUrl: receiver.url });
    const ports = [await freePort(), await freePort()];
    const start = (port: number) => startServer({ ...env, PORT: String(port) });
    const servers = new Map(await Promise.all(ports.map(async (port) => [port, await start(port)] as const)));
    const proxy = await startProxy(ports);
    for (const port of ports) await proxy.uses(port);

    const failures: string[] = [];
    let answered = 0;
    let events = 0;
    let over = false;
    /** A till at an even pace, so that events are late because of a restart or not at all. */
    const work = async (send: ReturnType<ReturnType<typeof caller>>): Promise<void> => {
      const call = async (
        expected: number,
        method: string,
        path: string,
        body?: object,
      ): Promise<Answered | null> => {
        const answer = await send(method, path, body).catch((error) => ({ status: 0, body: String(error) }));
        answered += 1;
        if (answer.status === expected) return answer;
        failures.push(`${method} ${path}: ${answer.status} ${answer.body}`);
        return null;
      };
      while (!over) {
        const created = await call(201, 'POST', '/offline-repairs', repairBody());
        if (!created) continue;
        events += 1;
        const { id } = JSON.parse(created.body);
        await call(200, 'GET', `/offline-repairs/${id}`);
        if (await call(200, 'POST', `/offline-repairs/${id}/close`)) events += 1;
        await pause(PAUSE_MS);
      }
    };
    const clients = await Promise.all(Array.from({ length: CALLERS }, (_, i) => newClient(`Till ${i}`)));
    const send = caller(proxy.url);
    const working = clients.map(({ apiKey }) => work(send(apiKey)));

    const stops: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const port = ports[round % 2] as number;
      const { value, ms } = await timed(async () => servers.get(port)?.stop());
      stops.push(ms);
      expect(value).toEqual({ status: 0, signal: null });
      servers.set(port, await start(port));
      await proxy.uses(port);
    }
    over = true;
    await Promise.all(working);
    await until('every event has come', () => receiver.received.length >= events, 60_000);

    const first = new Map<string, number>();
    for (const { at, headers, body } of receiver.received) {
      const id = String(headers['x-webhook-id']);
      if (!first.has(id)) first.set(id, at - Date.parse(body.timestamp));
    }
    const lateness = [...first.values()].sort((one, other) => one - other);
    const slowestStop = Math.max(...stops);
    say(
      `${ROUNDS} restarts: ${answered} requests, ${failures.length} failed; slowest stop ${Math.round(slowestStop)} ms; ` +
        `${lateness.length} events, the latest after ${lateness.at(-1)} ms, ${lateness.filter((ms) => ms > 1_000).length} after more than 1 s`,
    );
    expect(failures).toEqual([]);
    expect(slowestStop).toBeLessThan(12_500);
    expect(first.size).toBe(events);
  });
});
