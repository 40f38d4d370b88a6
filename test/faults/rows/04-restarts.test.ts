// engines: sqlite, postgres

import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ONLY_POSTGRES, ONLY_SQLITE } from '../../support/engines.ts';
import { effort, expectWithin, measured } from '../../support/faults.ts';
import { HistoryNotes, nothingWaits, startTill } from '../../support/history/history.ts';
import { NoResponse, sendTo } from '../../support/http.ts';
import { freePort } from '../../support/postgres-server.ts';
import { type Env, lookInto, migratedDatabase, SENDING, startServer, timed } from '../../support/process.ts';
import { startHaproxy } from '../../support/proxies.ts';
import { randomOf, SEED } from '../../support/random.ts';
import { atOnce } from '../../support/responses.ts';
import { addClient, makeShop } from '../../support/shops.ts';
import { needs } from '../../support/tools.ts';
import { scaled, until } from '../../support/until.ts';

const CALLERS = 6;
/** Each caller sends at an even pace, as tills do. */
const PAUSE_MS = 20;
const EXIT_WITHIN_MS = 12_000;

const prepared = async (history: HistoryNotes, drainSeconds: number) => {
  const receiver = await history.startReceiver();
  const env = await migratedDatabase({ ...SENDING, DRAIN_SECONDS: String(drainSeconds) });
  const { shopId } = await makeShop(env);
  const clients = await atOnce(CALLERS, (i) =>
    addClient(env, shopId, { name: `Till ${i}`, webhookUrl: receiver.url }),
  );
  return { env, clients };
};

/** Callers over connections that they keep. A request that is not answered as it should be is a failure. */
const startCallers = (history: HistoryNotes, url: string, clients: { id: string; apiKey: string }[]) => {
  const failures: string[] = [];
  let [asked, underWay] = [0, 0];
  let mayGoOn = Promise.resolve();
  const tills = clients.map(({ id, apiKey }, i) => {
    const send = sendTo(url, apiKey);
    return startTill({
      history,
      clientId: id,
      random: randomOf(SEED + i),
      name: `till-${i}`,
      onFailure: (status, path) => void failures.push(`${path}: ${status}`),
      async send(path, body, headers = {}) {
        await pause(PAUSE_MS);
        await mayGoOn;
        underWay += 1;
        asked += 1;
        try {
          return await send(path, { method: 'POST', body, headers });
        } catch (error) {
          if (error instanceof NoResponse) failures.push(`${error}: ${error.cause}`);
          throw error;
        } finally {
          underWay -= 1;
        }
      },
    });
  });
  return {
    failures,
    /** No caller begins a request until it is released; resolves when open requests have ended. */
    async hold(): Promise<() => void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      mayGoOn = promise;
      await until('the open requests have ended', () => underWay === 0, 30_000);
      return resolve;
    },
    async finish(): Promise<number> {
      await Promise.all(tills.map((end) => end()));
      return asked;
    },
  };
};

/** Every change was acknowledged, sent as an event and stored. */
const expectNothingLost = async (
  history: HistoryNotes,
  env: Env,
  callers: ReturnType<typeof startCallers>,
  what: string,
  stops: number[],
): Promise<void> => {
  const asked = await callers.finish();
  const db = lookInto(env);
  await nothingWaits(db, 60_000);
  expect(callers.failures).toEqual([]);
  const slowest = Math.max(...stops);
  expectWithin(slowest, EXIT_WITHIN_MS);
  const { events } = await history.judged(db);
  measured(
    4,
    `${stops.length} ${what}: ${asked} requests, 0 failed; exit within ${(slowest / 1000).toFixed(1)} s; ${events.length} events, 0 lost`,
  );
};

it('a single process that is stopped under load responds to every request that it accepted', {
  ...ONLY_SQLITE,
  timeout: scaled(240_000),
}, async () => {
  const history = new HistoryNotes();
  const { env, clients } = await prepared(history, 2);
  const port = await freePort();
  const start = () => startServer({ ...env, PORT: String(port) });
  let server = await start();
  const callers = startCallers(history, server.url, clients);
  const stops: number[] = [];
  for (let stop = 0; stop < effort(1, 10); stop++) {
    const enough = history.creations.length + 2 * CALLERS;
    await until('there is load', () => history.creations.length >= enough, 30_000);
    const { value, ms } = await timed(async () => {
      const stopped = server.stop();
      await until('it is not ready', async () => !(await server.isReady()));
      // From now on a proxy would send it no requests.
      const release = await callers.hold();
      return { ended: await stopped, release };
    });
    expect(value.ended).toEqual({ status: 0, signal: null });
    stops.push(ms);
    server = await start();
    value.release();
  }
  await expectNothingLost(history, env, callers, 'stops', stops);
});

/** A proxy as operators configure it: it checks /readyz and repeats no request. */
const proxyBefore = (port: number, serverPorts: number[]): string => `
defaults
  mode http
  option http-keep-alive
  option redispatch
  retries 3
  retry-on conn-failure
  timeout connect 2s
  timeout check 5s
  timeout client 60s
  timeout server 30s
frontend callers
  bind 127.0.0.1:${port}
  default_backend handback
backend handback
  balance roundrobin
  option httpchk GET /readyz
  default-server check inter 500ms fall 1 rise 1
${serverPorts.map((each) => `  server on-${each} 127.0.0.1:${each}`).join('\n')}
`;

const ROUNDS = effort(1, 8);

it('rolling restarts behind a proxy lose no request and no event', {
  ...ONLY_POSTGRES,
  ...needs('haproxy'),
  timeout: scaled(240_000),
}, async () => {
  const history = new HistoryNotes();
  const { env, clients } = await prepared(history, 3);
  const ports = [await freePort(), await freePort()];
  const start = (port: number) => startServer({ ...env, PORT: String(port) });
  const servers = new Map(await Promise.all(ports.map(async (port) => [port, await start(port)] as const)));
  const proxyPort = await freePort();
  const { uses } = await startHaproxy(proxyBefore(proxyPort, ports));
  for (const port of ports) await uses(`on-${port}`);
  const callers = startCallers(history, `http://127.0.0.1:${proxyPort}`, clients);
  const stops: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const port = ports[round % 2] as number;
    const { value, ms } = await timed(async () => servers.get(port)?.stop());
    stops.push(ms);
    expect(value).toEqual({ status: 0, signal: null });
    servers.set(port, await start(port));
    await uses(`on-${port}`);
  }
  await expectNothingLost(history, env, callers, 'rolling restarts', stops);
});
