import { describe, expect, it } from 'vitest';
import type { Attempt } from '../../src/webhooks/attempts.ts';
import { scaled } from '../support/machine.ts';
import { timed } from '../support/process.ts';
import { rawServer } from '../support/raw-server.ts';
import { startReceiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';
import { webhookHarness } from '../support/webhooks.ts';

// It waits for real time limits, and no engine takes part in them.
it('a receiver that hangs gets each of eight deliveries again one second after its attempt ended', async () => {
  const t = await webhookHarness({ sending: false });
  const client = await t.addReceiver(await rawServer(() => {}));
  for (let i = 0; i < 8; i++) await t.create(client);
  await t.startSending();
  const rows = await until(
    'all have been tried twice',
    async () => {
      const all = await t.deliveries();
      return all.every(({ attempts }) => attempts >= 2) ? all : null;
    },
    40_000,
  );
  for (const { attempt_log } of rows) {
    const [first, second] = JSON.parse(attempt_log) as [Attempt, Attempt];
    const gapMs = second.at - (first.at + first.durationMs);
    expect(gapMs).toBeGreaterThanOrEqual(950);
    // 250 ms are promised; the rest is for a machine that runs other suites beside.
    expect(gapMs).toBeLessThan(scaled(2_500));
  }
});

describe('a stop', () => {
  it('waits a few seconds at most for a receiver that hangs, and does not count the attempt', async () => {
    const asked: unknown[] = [];
    const t = await webhookHarness({ sending: false });
    const client = await t.addReceiver(await rawServer((socket) => void asked.push(socket)));
    for (let i = 0; i < 4; i++) await t.create(client);
    const stop = await t.startSending();
    await until('four exchanges hang', () => asked.length === 4);
    const { ms } = await timed(stop);
    expect(ms).toBeLessThan(scaled(7_000));
    expect((await t.deliveries()).map(({ status, attempts }) => [status, attempts])).toEqual(
      Array(4).fill(['PENDING', 0]),
    );
    expect(await t.ctx.db.selectFrom('webhook_leases').select('client_id').execute()).toEqual([]);
  });

  it('finishes exchanges that end soon, and writes down what came of them', async () => {
    const receiver = await startReceiver((_n, response) => {
      setTimeout(() => response.writeHead(200).end(), 1_000);
      return undefined;
    });
    const t = await webhookHarness({ sending: false });
    await t.create(await t.addReceiver(receiver.url));
    const stop = await t.startSending();
    await receiver.got(1);
    await stop();
    expect(await t.deliveries()).toMatchObject([{ status: 'DELIVERED', attempts: 1 }]);
  });
});
