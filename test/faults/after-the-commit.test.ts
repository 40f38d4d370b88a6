import { expect, it } from 'vitest';
import { repairBody } from '../support/bodies.ts';
import { harness } from '../support/harness.ts';

it('a wake-up call that fails after the commit fails no creation, and makes nothing twice', async () => {
  const t = await harness();
  await t.ctx.db
    .updateTable('api_clients')
    .set({ webhook_url: 'http://127.0.0.1:9/hook' })
    .where('id', '=', t.client.id)
    .execute();
  const unlisten = await t.ctx.onWake('deliveries', () => {
    throw new Error('the dispatcher stumbled');
  });
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => t.post('/offline-repairs', repairBody())),
  );
  await unlisten();
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201));
  const { body } = await t.get('/offline-repairs');
  expect(body.total).toBe(8);
});
