import { sql } from 'kysely';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BASE_PATH } from '../../contract/common.ts';
import { buildApp } from '../../src/api/app.ts';
import { readConfig } from '../../src/service/config.ts';
import { openContext } from '../../src/service/context.ts';
import { startWebhooks } from '../../src/webhooks/worker/dispatcher.ts';
import { repairBody } from '../support/bodies.ts';
import { wrongClock } from '../support/faketime.ts';
import { ENGINE } from '../support/harness.ts';
import { type Env, migratedDatabase, startServer, timed } from '../support/process.ts';
import { startReceiver } from '../support/receiver.ts';
import { addShops } from '../support/shops.ts';
import { needs } from '../support/tools.ts';
import { expectWithin } from '../support/within.ts';

const AHEAD_MS = 5_000;
/** An event that waited for the dispatcher's own look at the queue would be later than this. */
const AT_ONCE_MS = 2_000;

/** Part of a service, in this process, whose machine's clock is wrong. */
const openWith = async (env: Env, wrongByMs: number) => {
  const ctx = await openContext(readConfig({ TRUST_PROXY: '1', ...env, PORT: '0' }), {
    ownClock: () => performance.timeOrigin + performance.now() + wrongByMs,
    log: pino({ level: 'silent' }),
  });
  const app = await buildApp(ctx);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(async () => {
    await app.close();
    await ctx.close();
  });
  const send = (key: string, ip: string, path: string, body?: object) =>
    fetch(`${url}${BASE_PATH}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { 'x-api-key': key, 'x-forwarded-for': ip, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  return { ctx, send };
};

const webhookEnv = async (): Promise<Env> => ({
  ...(await migratedDatabase()),
  WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
});

if (ENGINE === 'postgres')
  describe('processes whose clocks differ', () => {
    it.each([
      ['ahead of', AHEAD_MS],
      ['behind', -AHEAD_MS],
    ])('send at once what a process %s them by 5 s has written', async (_, wrongByMs) => {
      const receiver = await startReceiver();
      const env = await webhookEnv();
      const [one] = await addShops(env, 1, () => receiver.url);
      const api = await openWith(env, wrongByMs);
      const worker = await openWith(env, -wrongByMs / 2);
      const stop = await startWebhooks(worker.ctx);
      onTestFinished(stop);
      for (let n = 1; n <= 3; n++) {
        const sentAt = Date.now();
        const { status } = await api.send(
          one?.client.apiKey ?? '',
          `10.1.0.${n}`,
          '/offline-repairs',
          repairBody(),
        );
        expect(status).toBe(201);
        await receiver.got(n, 20_000);
        expectWithin(Date.now() - sentAt, AT_ONCE_MS);
      }
    });

    it('agree on what time it is', async () => {
      const env = await webhookEnv();
      const clocks = await Promise.all([AHEAD_MS, 0, -AHEAD_MS].map((ms) => openWith(env, ms)));
      const times = clocks.map(({ ctx }) => ctx.clock.now());
      expectWithin(Math.max(...times) - Math.min(...times), 200);
    });

    it('count one limit together', async () => {
      const env = await webhookEnv();
      const [one] = await addShops(env, 1);
      const key = one?.client.apiKey ?? '';
      const [fast, slow] = await Promise.all([openWith(env, AHEAD_MS), openWith(env, -AHEAD_MS)]);
      const statuses: number[] = [];
      for (let n = 0; n < 21; n++)
        for (const { status } of await Promise.all(
          Array.from({ length: 10 }, (_, i) =>
            (i % 2 === 0 ? fast : slow).send(key, '10.2.0.1', '/offline-repairs?limit=1'),
          ),
        ))
          statuses.push(status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(200);
      expect(statuses.filter((status) => status === 429)).toHaveLength(10);
      // Five a second: of twelve that come at the same instant to both, five pass.
      const { value: burst, ms } = await timed(() =>
        Promise.all(
          Array.from({ length: 12 }, (_, i) =>
            (i % 2 === 0 ? fast : slow).send(key, '10.2.0.2', '/offline-repairs', repairBody()),
          ),
        ),
      );
      const passed = burst.filter(({ status }) => status === 201).length;
      expect(passed).toBeGreaterThanOrEqual(5);
      expect(passed).toBeLessThanOrEqual(5 * Math.ceil(ms / 1_000));
    });

    it('turn nobody away for longer than a window, also after the clock was set back', async () => {
      const env = await webhookEnv();
      const [one] = await addShops(env, 1);
      const key = one?.client.apiKey ?? '';
      const service = await openWith(env, 0);
      const hourAhead = Date.now() + 3_600_000;
      await sql`insert into rate_limits (key, times, taken, expire)
        values ('other-minute:10.3.0.1', array_fill(${hourAhead}::float8, array[199]), 1, ${hourAhead})`.execute(
        service.ctx.db,
      );
      const ask = () => service.send(key, '10.3.0.1', '/offline-repairs');
      expect((await ask()).status).toBe(200);
      // Times that lie ahead count as now.
      const refused = await ask();
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    });
  });

describe('real processes whose clocks differ', needs('faketime'), () => {
  it.each(['+5s', '-5s'])(
    'by %s: an event leaves at once, and a retry a second after the first',
    async (offset) => {
      const receiver = await startReceiver((n) => (n === 1 ? 500 : 200));
      const env = await webhookEnv();
      const [one] = await addShops(env, 1, () => receiver.url);
      const wrong = wrongClock(offset);
      const [api] = await Promise.all([
        startServer({ ...env, ...wrong, ROLE: 'api' }, { key: one?.client.apiKey ?? '' }),
        startServer({ ...env, ROLE: 'worker' }),
      ]);
      const sentAt = Date.now();
      const { body } = await api.post('/offline-repairs', repairBody());
      // Times are the database's, not this process's.
      expectWithin(Math.abs(Date.parse(body.createdAt) - sentAt), AT_ONCE_MS);
      const [first] = await receiver.got(1, 20_000);
      expectWithin((first?.at ?? 0) - sentAt, AT_ONCE_MS);
      const [, second] = await receiver.got(2, 20_000);
      const apart = (second?.at ?? 0) - (first?.at ?? 0);
      expect(apart).toBeGreaterThan(900);
      expectWithin(apart, 1_000 + AT_ONCE_MS);
    },
  );
});
