import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Context } from '../api/context.ts';
import { withTimeout } from '../lib/time.ts';
import { describeError, warning } from '../platform/log.ts';

/** Open requests are cut off this long after the stop began, or later after a longer drain (docs/contract.md). */
const REQUESTS_END_WITHIN_MS = 8_000;
const AFTER_DRAIN_MS = 4_000;
/** Further time limits: the rest of a webhook exchange (10 s in all), the database, the last log lines. */
const WEBHOOKS_MORE_MS = 2_700;
const DATABASE_MS = 600;
const LOG_MS = 400;
const GRACE_MS = 1_000;

interface Running {
  app: FastifyInstance;
  ctx: Context;
  stopJanitor(): void;
  stopWebhooks(): Promise<void>;
  stopBackups(): Promise<void>;
}

const responsesEndMs = (drainMs: number): number =>
  Math.max(REQUESTS_END_WITHIN_MS, drainMs + AFTER_DRAIN_MS);

const tookTooLong = (): Error => Object.assign(new Error('took too long'), { code: 'ETIMEDOUT' });

/** Stops in this order: not ready, serve for a while, close connections, end webhooks, close the database. */
const stop = async (running: Running, drainMs: number): Promise<void> => {
  const { app, ctx, stopJanitor, stopWebhooks, stopBackups } = running;
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
  const backupStopped = stopBackups();
  if (drainMs > 0) await pause(drainMs);
  const responsesEnd = responsesEndMs(drainMs);
  await app.connections.finish(leftUntil(responsesEnd));
  const mailed = ctx.mail?.finish() ?? Promise.resolve();
  await atMost(webhooksStopped, leftUntil(responsesEnd + WEBHOOKS_MORE_MS), 'stopping the webhooks');
  await atMost(mailed, leftUntil(responsesEnd + WEBHOOKS_MORE_MS), 'sending the last mails');
  await atMost(backupStopped, leftUntil(responsesEnd + WEBHOOKS_MORE_MS), 'stopping a backup');
  await atMost(ctx.close(), DATABASE_MS, 'closing the database');
  ctx.log.info('stopped');
  await atMost(new Promise((resolve) => ctx.log.flush(resolve)), LOG_MS, 'writing the log');
};

const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGUSR2'] as const;
/** Ctrl-C this long after the stop began ends the process immediately. */
const FORCE_QUIT_AFTER_MS = 1_000;

const CHECK_PARENT_EVERY_MS = 500;
/** It is read when this file is loaded, since the parent may have ended by the time the service is up. */
const PARENT_PID = process.ppid;

/** Stops at the first signal or unhandled error. A supervisor and npm send one signal each, so the second does not abort the stop. */
export const stopWhenAsked = (running: Running): void => {
  const { log, config } = running.ctx;
  let beganAt: number | null = null;
  const begin = async (cause: { signal: string } | { error: unknown }): Promise<void> => {
    if (beganAt !== null) return;
    beganAt = performance.now();
    const isFailure = 'error' in cause;
    if (isFailure) log.fatal({ error: describeError(cause.error) }, 'stopping after an unhandled error');
    else log.info(cause, 'stopping');
    // A supervisor, which sends SIGTERM, has a proxy that must notice the stop. A person at a terminal should not wait.
    const drainMs = !isFailure && cause.signal === 'SIGTERM' ? config.drainMs : 0;
    // After this time something hangs, and the process ends with status 1.
    const longestMs = responsesEndMs(drainMs) + WEBHOOKS_MORE_MS + DATABASE_MS + LOG_MS + GRACE_MS;
    const stopped = withTimeout(stop(running, drainMs), longestMs, tookTooLong);
    process.exit(await stopped.then(() => (isFailure ? 1 : 0)).catch(() => 1));
  };

  for (const signal of STOP_SIGNALS)
    process.on(signal, () => {
      const isForced = beganAt !== null && performance.now() - beganAt > FORCE_QUIT_AFTER_MS;
      if (signal === 'SIGINT' && isForced) process.exit(1);
      void begin({ signal });
    });
  process.on('uncaughtException', (error) => {
    if (beganAt !== null) process.exit(1);
    void begin({ error });
  });
  // Tools like logrotate send it after they rotated logs.
  process.on('SIGHUP', () =>
    log.info('SIGHUP is ignored: there is no log file to reopen, use SIGTERM to stop'),
  );
  // npm starts a shell, which does not forward signals: without this the service would never stop.
  const look = (): void => {
    if (process.ppid !== PARENT_PID) void begin({ signal: 'SIGTERM' });
  };
  if (config.startedByNpm) setInterval(look, CHECK_PARENT_EVERY_MS).unref();
};
