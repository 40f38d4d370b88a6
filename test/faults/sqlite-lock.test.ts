import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { expectDiscreet, expectUnavailable, expectWithin, percentile } from '../support/faults.ts';
import { holdWriteLock, timed, withOwnTimeLimits } from '../support/process.ts';
import { atOnce, repeatedly } from '../support/responses.ts';
import { addClient, startShop } from '../support/shops.ts';

withOwnTimeLimits();

describe('another program that holds the write lock', () => {
  it('affects neither health checks nor reads; creations get a 503 in time, and work again afterwards', async () => {
    const { env, shopId, server } = await startShop();
    const unused = await addClient(env, shopId, { name: 'New till' });
    const create = (i: number) => timed(() => server.create({ externalRef: `ref-${i}` }));
    const { value: first } = await create(0);
    expect(first).toHaveStatus(201);

    const { letGo } = holdWriteLock(env);
    const seen = { healthz: [] as number[], reads: [] as number[] };
    const endWatch = repeatedly(1, async () => {
      const health = await timed(() => server.get('/healthz'));
      seen.healthz.push(health.ms);
      const read = await timed(() => server.get(`/offline-repairs/${first.body.id}`));
      const list = await timed(() => server.get('/offline-repairs'));
      seen.reads.push(read.ms, list.ms);
      for (const { value } of [health, read, list]) expect(value).toHaveStatus(200);
      await pause(50);
    });
    // Its last use cannot be noted, and it does not wait for that.
    const firstUse = await timed(() => server.get('/offline-repairs', { key: unused.apiKey }));
    expect(firstUse.value).toHaveStatus(200);
    expectWithin(firstUse.ms, 1_900);
    // Nor does its first creation wait twice.
    const firstCreation = timed(() => server.create({}, { key: unused.apiKey }));
    // In waves, so that some arrive while others have waited for a while.
    const waves = [0, 700, 1400, 2100].map(async (afterMs, wave) => {
      await pause(afterMs);
      return atOnce(10, (i) => create(wave * 10 + i + 1));
    });
    const refused = [...(await Promise.all(waves)).flat(), await firstCreation];
    await endWatch();
    for (const { value } of refused) expectUnavailable(value);
    expect(refused[0]?.value.headers.get('retry-after')).toMatch(/^\d+$/);
    expectDiscreet(server);
    expectWithin(Math.max(...refused.map(({ ms }) => ms)), 5_000);
    // A single wait inside SQLite would last 2 s.
    for (const times of [seen.healthz, seen.reads]) {
      expectWithin(percentile(times, 0.5), 500);
      expectWithin(Math.max(...times), 1_900);
    }
    expect(seen.reads).not.toEqual([]);

    letGo();
    const after = await atOnce(10, (i) => create(100 + i));
    for (const { value } of after) expect(value).toHaveStatus(201);
    // What was refused is not there, and each acknowledged creation is seen by the next read.
    const { body } = await server.get('/offline-repairs?limit=100');
    expect(body.total).toBe(11);
    expect(body.items).toHaveLength(11);
  });

  it('delays creations for a short while, and none fails', async () => {
    const { env, server } = await startShop();
    const { letGo } = holdWriteLock(env);
    const creations = atOnce(5, () => server.create());
    await pause(300);
    letGo();
    expect(await creations).toHaveStatuses({ 201: 5 });
  });
});
