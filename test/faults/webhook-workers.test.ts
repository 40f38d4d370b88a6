import { describe, expect, it } from 'vitest';
import type { Db } from '../../src/db/database.ts';
import { newId } from '../../src/lib/ids.ts';
import { repairBody } from '../support/bodies.ts';
import { ENGINE } from '../support/harness.ts';
import { nothingWaits } from '../support/history/judged.ts';
import { type Env, lookInto, migratedDatabase, startServer, timed } from '../support/process.ts';
import { startReceiver } from '../support/receiver.ts';
import { addClient, makeShop } from '../support/shops.ts';
import { expectWithin } from '../support/within.ts';

/** The dispatcher's own look at the queue comes only every five seconds: sooner means that it was called. */
const CALLED_WITHIN_MS = 4_000;

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

const enqueue = async (db: Db, clientId: string): Promise<void> => {
  const now = Date.now();
  await db
    .insertInto('webhook_deliveries')
    .values({
      id: newId(now),
      client_id: clientId,
      rma_id: newId(now),
      event: 'offline_repair.closed',
      body: JSON.stringify({ event: 'offline_repair.closed', data: {} }),
      status: 'PENDING',
      attempts: 0,
      attempt_log: '[]',
      due_at: now,
      created_at: now,
    })
    .execute();
};

if (ENGINE === 'postgres')
  describe('several processes on one database', () => {
    it('an event committed by an API process is sent at once by a worker process', async () => {
      const receiver = await startReceiver();
      const { env, clients } = await withReceivers([receiver.url]);
      const [api] = await Promise.all([
        startServer({ ...env, ROLE: 'api' }, { key: clients[0]?.apiKey as string }),
        startServer({ ...env, ROLE: 'worker' }),
      ]);
      expect((await api.post('/offline-repairs', repairBody())).status).toBe(201);
      const { ms } = await timed(() => receiver.got(1));
      expectWithin(ms, CALLED_WITHIN_MS);
    });

    it('a process that stops leaves its receivers to the others at once', async () => {
      const receiver = await startReceiver();
      const { env, clients } = await withReceivers([receiver.url]);
      const db = lookInto(env);
      await enqueue(db, clients[0]?.id as string);
      const first = await startServer({ ...env, ROLE: 'worker' });
      await receiver.got(1);
      await nothingWaits(db, 5_000);
      await startServer({ ...env, ROLE: 'worker' });
      const api = await startServer({ ...env, ROLE: 'api' }, { key: clients[0]?.apiKey as string });
      await first.stop();
      expect((await api.post('/offline-repairs', repairBody())).status).toBe(201);
      // Its lease would have run for longer.
      const { ms } = await timed(() => receiver.got(2));
      expectWithin(ms, CALLED_WITHIN_MS);
    });
  });
