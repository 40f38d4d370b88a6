// engines: postgres

import { sql } from 'kysely';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { buildApp } from '../../src/api/app.ts';
import { openContext } from '../../src/app/context.ts';
import { readConfig } from '../../src/platform/config.ts';
import { expectWithin, wrongClock } from '../support/faults.ts';
import { type ApiResponse, callsOf, sendTo } from '../support/http.ts';
import { type Env, migratedDatabase, SENDING, startServer } from '../support/process.ts';
import { startReceiver } from '../support/receiver.ts';
import { atOnce } from '../support/responses.ts';
import { makeShop } from '../support/shops.ts';
import { needs } from '../support/tools.ts';

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
  return { ctx, ...callsOf(sendTo(url)) };
};

describe('processes whose clocks differ', () => {
  it('agree on the time', async () => {
    const env = await migratedDatabase();
    const clocks = await Promise.all([AHEAD_MS, 0, -AHEAD_MS].map((ms) => openWith(env, ms)));
    const times = clocks.map(({ ctx }) => ctx.clock.now());
    expectWithin(Math.max(...times) - Math.min(...times), 200);
  });

  it('share one rate limit', async () => {
    const env = await migratedDatabase();
    const { key } = await makeShop(env);
    const [fast, slow] = await Promise.all([openWith(env, AHEAD_MS), openWith(env, -AHEAD_MS)]);
    const responses: ApiResponse[] = [];
    const ask = (i: number) =>
      (i % 2 === 0 ? fast : slow).get('/offline-repairs?limit=1', { key, ip: '10.2.0.1' });
    for (let n = 0; n < 21; n++) responses.push(...(await atOnce(10, ask)));
    expect(responses).toHaveStatuses({ 200: 200, 429: 10 });
  });

  it('refuse no caller for longer than a window, even after the clock was set back', async () => {
    const env = await migratedDatabase();
    const { key } = await makeShop(env);
    const service = await openWith(env, 0);
    const hourAhead = Date.now() + 3_600_000;
    await sql`insert into rate_limits (key, times, taken, expire)
        values ('other-minute:10.3.0.1', array_fill(${hourAhead}::float8, array[199]), 1, ${hourAhead})`.execute(
      service.ctx.db,
    );
    const ask = () => service.get('/offline-repairs', { key, ip: '10.3.0.1' });
    expect(await ask()).toHaveStatus(200);
    // Times that lie ahead count as now.
    const refused = await ask();
    expect(refused).toHaveStatus(429);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
  });
});

describe('real processes whose clocks differ', needs('faketime'), () => {
  it.each(['+5s', '-5s'])(
    'by %s send an event immediately, and its retry a second after the first attempt',
    async (offset) => {
      const receiver = await startReceiver((n) => (n === 1 ? 500 : 200));
      const env = await migratedDatabase(SENDING);
      const { key } = await makeShop(env, { webhookUrl: receiver.url });
      const [api] = await Promise.all([
        startServer({ ...env, ...wrongClock(offset), ROLE: 'api' }, { key }),
        startServer({ ...env, ROLE: 'worker' }),
      ]);
      const sentAt = Date.now();
      const { body } = await api.create();
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
