import { describe, expect, it } from 'vitest';
import { sweep } from '../../src/service/janitor.ts';
import { UNKNOWN_ID } from '../support/api.ts';
import { repairBody } from '../support/bodies.ts';
import { type Harness, harness } from '../support/harness.ts';
import { holdConnections } from '../support/held-connections.ts';
import { startReceiver } from '../support/receiver.ts';
import { webhookHarness } from '../support/webhooks.ts';

const addOldKey = ({ ctx }: Harness) =>
  ctx.db
    .insertInto('idempotency_keys')
    .values({ client_id: UNKNOWN_ID, key: 'old', body_hash: 'x', answer: '{}', created_at: 1 })
    .execute();
const oldKeys = ({ ctx }: Harness) =>
  ctx.db.selectFrom('idempotency_keys').select('key').where('key', '=', 'old').execute();

describe('each kind of work has connections of its own', () => {
  it('clean-up does not wait for those of webhooks', async () => {
    const t = await harness({ env: { DATABASE_POOLS: 'webhooks=1' } });
    await addOldKey(t);
    const release = await holdConnections(t.ctx.webhooks);
    await sweep(t.ctx);
    expect(await oldKeys(t)).toEqual([]);
    await release();
  });

  it('webhooks and requests do not wait for that of clean-up', async () => {
    const receiver = await startReceiver();
    const t = await webhookHarness();
    const client = await t.addReceiver(receiver.url);
    await addOldKey(t);
    const release = await holdConnections(t.ctx.background);
    const swept = sweep(t.ctx);
    await t.create(client);
    await receiver.got(1);
    expect(await oldKeys(t)).toHaveLength(1);
    await release();
    await swept;
  });

  it('requests of API clients do not wait for those of the admin app', async () => {
    const t = await harness({ env: { DATABASE_POOLS: 'admin=1' } });
    const { body } = await t.post('/offline-repairs', repairBody());
    const release = await holdConnections(t.ctx.db);
    const answers = [
      await t.post('/offline-repairs', repairBody()),
      await t.post('/offline-repairs/dry-run', repairBody()),
      await t.post(`/offline-repairs/${body.id}/close`),
      await t.get(`/offline-repairs/${body.id}`),
      await t.get(`/offline-repairs/${body.id}/timeline`),
      await t.get('/offline-repairs'),
      await t.get('/trade-returns?status=TRADE_SUBMITTED'),
      await t.get('/events'),
      await t.get('/usage'),
    ];
    await release();
    expect(answers.map(({ status }) => status).filter((status) => status >= 300)).toEqual([]);
  });
});
