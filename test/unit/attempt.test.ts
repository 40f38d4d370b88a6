import { describe, expect, it, vi } from 'vitest';
import type { Context } from '../../src/api/context.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { secretBox } from '../../src/platform/secrets.ts';
import { webhookSecretColumn } from '../../src/webhooks/outbox.ts';
import { DROP_REASONS } from '../../src/webhooks/queue.ts';
import { createAttempts } from '../../src/webhooks/worker/attempt.ts';
import type { Destination, DueDelivery } from '../../src/webhooks/worker/delivery-queue.ts';
import { systemMonotonicClock } from '../../src/webhooks/worker/monotonic-clock.ts';
import type { Sender } from '../../src/webhooks/worker/send.ts';

// The state of a delivery after an attempt. The results of the exchanges are given by the tests.

const NOW = Date.UTC(2026, 10, 16, 12);
const TOOK_MS = 250;
const CREATED_AGO_MS = 2_000;
const CLIENT = 'client-1';
const secrets = secretBox(['k'.repeat(32)]);

type Outcome = Awaited<ReturnType<Sender['send']>>;
const REFUSED = { statusCode: 503, error: null };

/** Attempts whose exchanges have this result, after 250 ms. */
const setUp = (outcome: Outcome | Error) => {
  let nowMs = NOW;
  let ownMs = 5_000;
  const log = { warn: vi.fn(), error: vi.fn() };
  const metrics = createMetrics();
  const open = vi.spyOn(secrets, 'open').mockClear();
  const send = vi.fn<Sender['send']>(async () => {
    nowMs += TOOK_MS;
    ownMs += TOOK_MS + 0.4;
    if (outcome instanceof Error) throw outcome;
    return outcome;
  });
  const ctx = { clock: { now: () => nowMs }, log, metrics, secrets } as unknown as Context;
  const attempt = createAttempts(
    ctx,
    { send, close: async () => {} },
    { ...systemMonotonicClock, now: () => ownMs },
  );
  return { attempt, log, metrics, open, send };
};

const due = (more: Partial<DueDelivery> = {}): DueDelivery => ({
  id: 'delivery-1',
  receiverId: 'receiver-1',
  event: 'offline_repair.created',
  body: Buffer.from('{}'),
  attemptsBefore: 0,
  log: '[]',
  createdAt: NOW - CREATED_AGO_MS,
  ...more,
});

const sealed = (clientId: string, secret: string) => secrets.seal(secret, webhookSecretColumn(clientId));
const receiver = (sealedSecret = sealed(CLIENT, 'whsec_1')): Destination => ({
  clientId: CLIENT,
  shopId: 'shop-1',
  revokedAt: null,
  plan: 'ENTERPRISE',
  failedSince: null,
  nextRetryAt: null,
  url: 'https://shop.example/hook',
  sealedSecret,
});

const ENDED = NOW + TOOK_MS;
const EARLIER = { at: NOW - 1_000, durationMs: 1, ...REFUSED };
/** The log line of a dropped delivery. */
const ABOUT = {
  deliveryId: 'delivery-1',
  clientId: CLIENT,
  shopId: 'shop-1',
  event: 'offline_repair.created',
  attempts: 4,
};

describe('an attempt', () => {
  const RETRIED = { status: 'PENDING', dueAt: ENDED + 1_000, finishedAt: null, reason: null };
  const DELIVERED = { status: 'DELIVERED', dueAt: ENDED, finishedAt: ENDED, reason: null };
  const LAST = { ...DELIVERED, status: 'DROPPED', reason: 'four attempts failed: status 503' };

  it.each<[attemptsBefore: number, result: string, outcome: Outcome, expected: object]>([
    [1, 'acknowledged', { statusCode: 204, error: null }, DELIVERED],
    [0, 'refused', REFUSED, RETRIED],
    [0, 'failed', { statusCode: null, error: 'connection refused' }, RETRIED],
    [3, 'refused', REFUSED, LAST],
  ])(
    'after %i others that was %s is counted, and decides what follows',
    async (attemptsBefore, result, outcome, expected) => {
      const { attempt, metrics, log } = setUp(outcome);
      const attempts = Array(attemptsBefore).fill(EARLIER);
      expect(await attempt(due({ attemptsBefore, log: JSON.stringify(attempts) }), receiver())).toEqual({
        id: 'delivery-1',
        attemptsBefore,
        attempts: [...attempts, { at: NOW, durationMs: TOOK_MS, ...outcome }],
        ...expected,
      });
      const text = await metrics.registry.metrics();
      expect(text).toContain(`handback_webhook_attempts_total{result="${result}"} 1`);
      const tookSeconds = expected === DELIVERED ? (CREATED_AGO_MS + TOOK_MS) / 1000 : 0;
      expect(text).toContain(`handback_webhook_delivery_duration_seconds_sum ${tookSeconds}`);
      const dropped = expected === LAST ? 1 : 0;
      expect(text).toMatch(new RegExp(`^handback_webhook_deliveries_dropped_total ${dropped}$`, 'm'));
      expect(log.warn.mock.calls).toEqual(
        dropped ? [[{ ...ABOUT, reason: LAST.reason }, 'webhook dropped']] : [],
      );
    },
  );

  it('that fails inside the service drops the delivery, and the error is logged without its message', async () => {
    const { attempt, log } = setUp(new TypeError('whsec_1'));
    expect(
      await attempt(due({ log: JSON.stringify([EARLIER]), attemptsBefore: 1 }), receiver()),
    ).toMatchObject({
      status: 'DROPPED',
      attempts: [EARLIER],
      reason: DROP_REASONS.serviceError,
    });
    expect(log.error).toHaveBeenCalledExactlyOnceWith(
      { deliveryId: 'delivery-1', error: expect.anything() },
      'unexpected error in webhook delivery',
    );
  });
});

it.each([
  [DROP_REASONS.gone, due(), undefined],
  [DROP_REASONS.revoked, due(), { ...receiver(), revokedAt: NOW }],
  [DROP_REASONS.noUrl, due(), { ...receiver(), url: null }],
  [DROP_REASONS.noApi, due(), { ...receiver(), plan: 'GROWTH' } as const],
  [DROP_REASONS.unreadable, due({ log: '[{"at":' }), receiver()],
  [DROP_REASONS.noBody, due({ body: null }), receiver()],
  [DROP_REASONS.sealed, due(), receiver(sealed('another client', 'whsec_1'))],
])('nothing is sent if %s', async (reason, delivery, to) => {
  const { attempt, send, log } = setUp(REFUSED);
  expect(await attempt(delivery, to)).toEqual({
    id: 'delivery-1',
    attemptsBefore: 0,
    status: 'DROPPED',
    attempts: [],
    dueAt: NOW,
    finishedAt: NOW,
    reason,
  });
  expect(send).not.toHaveBeenCalled();
  expect(log.warn.mock.calls[0]?.[0]).toMatchObject({ shopId: to ? 'shop-1' : null, reason });
});

describe('the webhook secrets', () => {
  const OUTCOME = { statusCode: 200, error: null };

  it('are opened once, and again after they were resealed', async () => {
    const { attempt, open, send } = setUp(OUTCOME);
    const first = receiver();
    await attempt(due(), first);
    await attempt(due(), first);
    expect(open).toHaveBeenCalledTimes(1);
    await attempt(due(), receiver(sealed(CLIENT, 'whsec_2')));
    expect(open).toHaveBeenCalledTimes(2);
    expect(send.mock.calls.map(([{ secret }]) => secret)).toEqual(['whsec_1', 'whsec_1', 'whsec_2']);
  });

  it('are cached for at most ten thousand clients', async () => {
    const { attempt, open } = setUp(OUTCOME);
    open.mockImplementation((_sealed, { id }) => `whsec_${id}`);
    const sendTo = (n: number) => attempt(due(), { ...receiver('sealed'), clientId: `client-${n}` });
    for (let n = 0; n < 10_000; n += 1) await sendTo(n);
    await sendTo(0);
    expect(open).toHaveBeenCalledTimes(10_000);
    await sendTo(10_000);
    await sendTo(0);
    expect(open).toHaveBeenCalledTimes(10_002);
    open.mockRestore();
  });
});
