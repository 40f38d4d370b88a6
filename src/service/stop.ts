import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { withTimeout } from '../lib/time.ts';
import type { Context } from './context.ts';
import { warning } from './log.ts';

/** Open requests are cut off so long after the stop began, or so long after a longer drain: docs/contract.md. */
const ANSWER_WITHIN_MS = 8_000;
const AFTER_DRAIN_MS = 4_000;
/** Beyond that: the rest of a webhook exchange (10 s in all), the database, the last log lines. */
const WEBHOOKS_MORE_MS = 2_700;
const DATABASE_MS = 600;
const LOG_MS = 400;

export interface Running {
  app: FastifyInstance;
  ctx: Context;
  stopJanitor(): void;
  stopWebhooks(): Promise<void>;
}

const answersEndMs = (drainMs: number): number => Math.max(ANSWER_WITHIN_MS, drainMs + AFTER_DRAIN_MS);

/** A stop takes no longer than this, whatever hangs. */
export const longestStopMs = (drainMs: number): number =>
  answersEndMs(drainMs) + WEBHOOKS_MORE_MS + DATABASE_MS + LOG_MS;

const tookTooLong = (): Error => Object.assign(new Error('took too long'), { code: 'ETIMEDOUT' });

/** Not ready any more → go on answering for a while → close connections → webhooks → database. */
export const stop = async (
  { app, ctx, stopJanitor, stopWebhooks }: Running,
  drainMs: number,
): Promise<void> => {
  const startedAt = performance.now();
  const leftUntil = (endMs: number) => Math.max(0, startedAt + endMs - performance.now());
  const atMost = async (work: Promise<unknown>, ms: number, what: string): Promise<void> => {
    await withTimeout(work, ms, tookTooLong).catch(warning(ctx.log, `${what} failed`));
  };

  app.connections.isDraining = true;
  stopJanitor();
  void ctx.feedWatches.stop();
  const webhooksStopped = stopWebhooks();
  // A rejection before it is awaited must not count as unhandled.
  webhooksStopped.catch(() => {});
  if (drainMs > 0) await pause(drainMs);
  const answersEnd = answersEndMs(drainMs);
  await app.connections.finish(leftUntil(answersEnd));
  const mailed = ctx.mail.finish();
  await atMost(webhooksStopped, leftUntil(answersEnd + WEBHOOKS_MORE_MS), 'stopping the webhooks');
  await atMost(mailed, leftUntil(answersEnd + WEBHOOKS_MORE_MS), 'sending the last mails');
  await atMost(ctx.close(), DATABASE_MS, 'closing the database');
  ctx.log.info('stopped');
  await atMost(new Promise((resolve) => ctx.log.flush(resolve)), LOG_MS, 'writing the log');
};

export const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;
export type StopSignal = (typeof STOP_SIGNALS)[number];

/** So long after Ctrl-C a second one means "now". */
const FORCE_QUIT_AFTER_MS = 1_000;

const LOOK_FOR_PARENT_MS = 500;
/** As this file is loaded, long before the service says that it is up: later the parent may be gone already. */
const PARENT = process.ppid;

/** npm starts a shell, and a shell that gets a signal passes nothing on: without this the service would go on for ever. */
export const onParentGone = (begin: () => void): void => {
  const look = setInterval(() => {
    if (process.ppid === PARENT) return;
    clearInterval(look);
    begin();
  }, LOOK_FOR_PARENT_MS).unref();
};

/** At the first signal only: a supervisor and npm send one each, and the second must not cut the stop short. A second Ctrl-C may. */
export const onStopSignal = (begin: (signal: StopSignal) => void): void => {
  let signalledAt: number | null = null;
  for (const name of STOP_SIGNALS)
    process.on(name, () => {
      if (signalledAt === null) {
        signalledAt = performance.now();
        begin(name);
      } else if (name === 'SIGINT' && performance.now() - signalledAt > FORCE_QUIT_AFTER_MS) process.exit(1);
    });
};
