import { describe, expect, it } from 'vitest';
import type { Db } from '../../src/db/database.ts';
import { newId } from '../../src/ids.ts';
import { LEASE_MS } from '../../src/webhooks/policy.ts';
import { repairBody } from '../support/bodies.ts';
import { ENGINE } from '../support/harness.ts';
import { type Env, lookInto, migratedDatabase, startServer } from '../support/process.ts';
import { startReceiver } from '../support/receiver.ts';
import { addClient, makeShop } from '../support/shops.ts';
import { until } from '../support/until.ts';

const withReceivers = async (
  urls: string[],
): Promise<{ env: Env; clients: { id: string; apiKey: string }[] }> => {
  const env = { ...(await migratedDatabase()), WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' };
  const { shopId } = await makeShop(env);
  const clients = await Promise.all(
    urls.map((url, i) => addClient(env, shopId, { name: `R${i}`, webhookUrl: url })),
  );
  return { env, clients };
};

const enqueueMany = async (db: Db, clientIds: string[], count: number): Promise<void> => {
  const now = Date.now();
  for (let done = 0; done < count; done += 500)
    await db
      .insertInto('webhook_deliveries')
      .values(
        Array.from({ length: Math.min(500, count - done) }, (_, i) => ({
          id: newId(now),
          client_id: clientIds[(done + i) % clientIds.length] as string,
          rma_id: newId(now),
          event: 'offline_repair.closed' as const,
          body: JSON.stringify({ event: 'offline_repair.closed', data: { id: done + i } }),
          status: 'PENDING' as const,
          attempts: 0,
          attempt_log: '[]',
          due_at: now,
          created_at: now,
        })),
      )
      .execute();
};

const settled = (db: Db, withinMs: number) =>
  until(
    'nothing waits any more',
    async () =>
      (await db.selectFrom('webhook_deliveries').select('id').where('status', '=', 'PENDING').execute())
        .length === 0,
    withinMs,
  );

describe.runIf(ENGINE === 'postgres')('several processes on one database', () => {
  it('four workers send 5,000 events in exactly 5,000 requests', { timeout: 90_000 }, async () => {
    const receivers = await Promise.all(Array.from({ length: 5 }, () => startReceiver()));
    const { env, clients } = await withReceivers(receivers.map(({ url }) => url));
    const db = lookInto(env);
    await enqueueMany(
      db,
      clients.map(({ id }) => id),
      5_000,
    );
    await Promise.all(Array.from({ length: 4 }, () => startServer({ ...env, ROLE: 'worker' })));
    await settled(db, 60_000);
    const ids = receivers.flatMap(({ received }) => received.map(({ headers }) => headers['x-webhook-id']));
    expect(ids).toHaveLength(5_000);
    expect(new Set(ids).size).toBe(5_000);
  });

  it('an event committed by an API process is sent at once by a worker process', async () => {
    const receiver = await startReceiver();
    const { env, clients } = await withReceivers([receiver.url]);
    const [api] = await Promise.all([
      startServer({ ...env, ROLE: 'api' }, { key: clients[0]?.apiKey as string }),
      startServer({ ...env, ROLE: 'worker' }),
    ]);
    expect((await api.post('/offline-repairs', repairBody())).status).toBe(201);
    // Its own look at the queue comes only every five seconds: sooner means that it was called.
    await receiver.got(1, 4_000);
  });

  it('a process that was paused past its lease overwrites nothing when it wakes', {
    timeout: 90_000,
  }, async () => {
    // The first request is never answered; the next is.
    const receiver = await startReceiver((n) => (n === 1 ? undefined : 200));
    const { env, clients } = await withReceivers([receiver.url]);
    const db = lookInto(env);
    const sleeper = await startServer({ ...env, ROLE: 'worker' });
    await enqueueMany(db, [clients[0]?.id as string], 1);
    await receiver.got(1, 15_000);
    sleeper.signal('SIGSTOP');
    const heir = await startServer({ ...env, ROLE: 'worker' });
    await settled(db, LEASE_MS + 20_000);
    const [before] = await db.selectFrom('webhook_deliveries').selectAll().execute();
    expect(before).toMatchObject({ status: 'DELIVERED', attempts: 1 });
    sleeper.signal('SIGCONT');
    // It has noticed the end of its exchange, and has said what it made of it, once its process has stopped.
    await sleeper.stop();
    await heir.stop();
    expect(await db.selectFrom('webhook_deliveries').selectAll().execute()).toEqual([before]);
    expect(receiver.received).toHaveLength(2);
  });

  it('a process that stops leaves its receivers to the others at once', async () => {
    const receiver = await startReceiver();
    const { env, clients } = await withReceivers([receiver.url]);
    const db = lookInto(env);
    await enqueueMany(db, [clients[0]?.id as string], 1);
    const first = await startServer({ ...env, ROLE: 'worker' });
    await receiver.got(1, 15_000);
    await settled(db, 5_000);
    await startServer({ ...env, ROLE: 'worker' });
    const api = await startServer({ ...env, ROLE: 'api' }, { key: clients[0]?.apiKey as string });
    await first.stop();
    expect((await api.post('/offline-repairs', repairBody())).status).toBe(201);
    // Its lease would have run for longer.
    await receiver.got(2, 4_000);
  });
});

it('sends what was waiting when the process starts', async () => {
  const receiver = await startReceiver();
  const { env, clients } = await withReceivers([receiver.url]);
  const db = lookInto(env);
  await enqueueMany(db, [clients[0]?.id as string], 50);
  await startServer(env);
  await receiver.got(50, 20_000);
  await settled(db, 10_000);
});
