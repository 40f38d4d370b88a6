// engines: sqlite, postgres

import { describe, expect } from 'vitest';
import type { Context } from '../../src/api/context.ts';
import { addDeliveries, waitingDelivery } from '../support/delivery-rows.ts';
import { itWith } from '../support/fixtures.ts';
import { timed } from '../support/process.ts';
import { startReceiver } from '../support/receiver.ts';
import { sendingTo } from '../support/sending-to.ts';
import { scaled } from '../support/until.ts';
import { type WebhookHarness, webhookHarness } from '../support/webhooks.ts';

// The process that writes an event and the one that sends it may have clocks that differ, and a clock may jump.

const it = itWith(() => webhookHarness({ sending: false }));

const HOUR_MS = 3_600_000;
/** Well below the 5 s after which the dispatcher looks at the whole queue by itself. */
const AT_ONCE_MS = 3_000;

const withClockOff = (ctx: Context, byMs: number): Context => ({
  ...ctx,
  clock: { now: () => ctx.clock.now() + byMs },
});

/** A delivery whose first attempt failed, as another process would have left it. */
const leaveRetry = (t: WebhookHarness, clientId: string, dueInMs: number): Promise<void> => {
  const now = t.ctx.clock.now();
  const attempt_log = JSON.stringify([{ at: now, durationMs: 1, statusCode: 500, error: null }]);
  const columns = { attempts: 1, attempt_log, due_at: now + dueInMs };
  return addDeliveries(t, [waitingDelivery(clientId, now, columns)]);
};

describe('differing clocks', () => {
  it.for([-5_000, -300, 5_000])('do not delay the first attempt (%i ms)', async (byMs, { t }) => {
    const receiver = await startReceiver();
    await t.startSending(withClockOff(t.ctx, byMs));
    const client = await t.addReceiver(receiver.url);
    for (const count of [1, 2, 3]) {
      await t.create(client);
      const { ms } = await timed(() => receiver.got(count));
      expect(ms).toBeLessThan(scaled(AT_ONCE_MS));
    }
  });

  it('do not block a receiver by a lease that lies implausibly far ahead', async ({ t }) => {
    const receiver = await startReceiver();
    const client = await t.addReceiver(receiver.url);
    await t.ctx.db
      .insertInto('webhook_leases')
      .values({ receiver_id: client.id, holder: 'gone', held_until: t.ctx.clock.now() + HOUR_MS })
      .execute();
    await t.startSending();
    await t.create(client);
    await receiver.got(1);
  });
});

describe('a clock that jumps back an hour', () => {
  it('delays neither retries nor first attempts', async () => {
    const { t, receiver, client } = await sendingTo((n) => (n === 1 ? 500 : 200));
    await t.create(client);
    await t.attempted(1);
    t.clock.advance(-HOUR_MS);
    await receiver.got(2);
    await t.create(client);
    await receiver.got(3);
    await t.drained();
    expect((await t.deliveries()).map(({ status }) => status)).toEqual(['DELIVERED', 'DELIVERED']);
  });

  it('leaves no retry of another process waiting for an hour', async ({ t }) => {
    const receiver = await startReceiver();
    await leaveRetry(t, (await t.addReceiver(receiver.url)).id, HOUR_MS);
    await t.startSending();
    await receiver.got(1);
  });
});

it('a receiver that is woken early is served when due, not at the next scan', async ({ sending: t }) => {
  const [receiver, first] = [await startReceiver(), await startReceiver()];
  // The look at the start is over once this has arrived; the next one comes five seconds later.
  await t.create(await t.addReceiver(first.url));
  await first.got(1);
  const client = await t.addReceiver(receiver.url);
  const leftAt = Date.now();
  await leaveRetry(t, client.id, 1_500);
  t.ctx.wake('deliveries', client.id);
  const [got] = await receiver.got(1);
  expect((got?.at ?? 0) - leftAt).toBeGreaterThanOrEqual(1_400);
  expect((got?.at ?? 0) - leftAt).toBeLessThan(scaled(3_500));
});
