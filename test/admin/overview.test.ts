import { expect, it } from 'vitest';
import { newPerson } from '../support/admin.ts';
import { pluck } from '../support/answers.ts';
import { repairBody, tradeBody } from '../support/bodies.ts';
import { sharedHarness } from '../support/harness.ts';
import { startReceiver } from '../support/receiver.ts';
import { webhookHarness } from '../support/webhooks.ts';

const harness = sharedHarness();

const DAY_MS = 86_400_000;
type Counted = { status: string; count: number }[];
const counts = (list: Counted) =>
  Object.fromEntries(list.filter(({ count }) => count > 0).map(({ status, count }) => [status, count]));

it('counts what there is by status, age and day, and nothing of another shop', async () => {
  const t = await harness({ allowance: 100 });
  const other = await t.addShop();
  await t.post('/offline-repairs', repairBody(), { key: other.client.apiKey });
  const old = (await t.post('/offline-repairs', repairBody())).body;
  t.clock.advance(5 * DAY_MS);
  const closed = (await t.post('/offline-repairs', repairBody())).body;
  await t.post(`/offline-repairs/${closed.id}/close`);
  await t.post('/trade-returns', tradeBody());
  const staff = await newPerson(t, { role: 'STAFF' });
  await staff.post('/offline-repairs', repairBody());

  const { status, body } = await staff.get('/overview');
  expect(status).toBe(200);
  expect(counts(body.offlineRepairs.byStatus)).toEqual({ OFFLINE_DIAGNOSTICS: 2, OFFLINE_CLOSED: 1 });
  expect(body.offlineRepairs.open).toBe(2);
  const { openByAge } = body.offlineRepairs;
  expect(pluck(openByAge, 'upToDays')).toEqual([1, 3, 7, 30, null]);
  expect(pluck(openByAge, 'count')).toEqual([1, 0, 1, 0, 0]);
  expect(counts(body.tradeReturns.byStatus)).toEqual({ TRADE_SUBMITTED: 1 });
  expect(body.createdPerDay).toHaveLength(30);
  const day = new Date(t.ctx.clock.now()).toISOString().slice(0, 10);
  expect(body.createdPerDay.at(-1)).toMatchObject({ day, offlineRepairs: 2, tradeReturns: 1 });
  expect(body.createdPerDay.at(-6)).toMatchObject({ offlineRepairs: 1, tradeReturns: 0 });
  expect(body.openLongest).toMatchObject([{ id: old.id }, {}, {}]);
});

it("tells this month's use against the allowance, from the first of the month on", async () => {
  const t = await harness({ allowance: 7 });
  const staff = await newPerson(t, { role: 'STAFF' });
  const month = () => new Date(t.ctx.clock.now()).toISOString().slice(0, 7);
  const unused = { month: month(), used: 0, limit: 7, billing: 'ALLOWANCE' };
  expect((await staff.get('/overview')).body.month).toEqual(unused);
  await t.post('/offline-repairs', repairBody());
  await t.post('/trade-returns', tradeBody());
  expect((await staff.get('/overview')).body.month.used).toBe(2);
  t.clock.advance(32 * DAY_MS);
  const later = await newPerson(t, { role: 'STAFF' });
  expect((await later.get('/overview')).body.month).toMatchObject({ month: month(), used: 0 });
});

it('tells how the last day of webhooks went', async () => {
  const t = await webhookHarness();
  const [good, bad] = [await startReceiver(), await startReceiver(() => 500)];
  const [served, refused] = [await t.addReceiver(good.url), await t.addReceiver(bad.url)];
  await t.create(served);
  await t.create(refused);
  await good.got(1);
  for (const [n, waitMs] of [1_000, 4_000, 16_000].entries()) {
    await t.attempted(n + 1, refused.id);
    t.advance(waitMs);
  }
  await t.drained();
  const staff = await newPerson(t, { role: 'STAFF' });
  expect((await staff.get('/overview')).body).toMatchObject({
    webhooks: { delivered: 1, dropped: 1, waiting: 0 },
    droppedByClient: null,
  });
  const admin = await newPerson(t);
  expect((await admin.get('/overview')).body.droppedByClient).toEqual([
    { clientId: refused.id, name: expect.any(String), dropped: 1 },
  ]);
});
