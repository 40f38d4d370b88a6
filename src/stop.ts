import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Context } from './context.ts';
import { describeError } from './describe-error.ts';

/** Requests under way are cut off so long after the stop began, or so long after a longer drain: decision 88. */
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

/** Not ready any more → answer everybody for a while → close connections → webhooks → database. */
export const stop = async (
  { app, ctx, stopJanitor, stopWebhooks }: Running,
  drainMs: number,
): Promise<void> => {
  const startedAt = performance.now();
  const leftUntil = (endMs: number) => Math.max(0, startedAt + endMs - performance.now());
  const atMost = async (work: Promise<unknown>, ms: number, what: string): Promise<void> => {
    const late = pause(ms, `${what} took too long`, { ref: false });
    const failed = (error: unknown) => ctx.log.warn({ fault: describeError(error) }, `${what} failed`);
    const said = await Promise.race([work.then(() => null, failed), late]);
    if (typeof said === 'string') ctx.log.warn(said);
  };

  app.drain.begin();
  stopJanitor();
  void ctx.feedWatches.stop();
  const webhooksStopped = stopWebhooks();
  // A rejection before anybody waits for it must not count as unhandled.
  webhooksStopped.catch(() => {});
  if (drainMs > 0) await pause(drainMs);
  const answersEnd = answersEndMs(drainMs);
  await app.drain.finish(leftUntil(answersEnd));
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
const SECOND_THOUGHTS_MS = 1_000;

const LOOK_FOR_PARENT_MS = 500;
/** As this file is loaded, long before anybody can see that the service is up: later the parent may be gone already. */
const PARENT = process.ppid;

/**
 * Calls back when the process that started this one is gone. npm starts a shell, and a shell that is told to stop passes nothing on:
 * without this the service would go on for ever, with nobody to stop it.
 */
export const onParentGone = (begin: () => void): void => {
  const look = setInterval(() => {
    if (process.ppid === PARENT) return;
    clearInterval(look);
    begin();
  }, LOOK_FOR_PARENT_MS).unref();
};

/**
 * Calls back at the first signal only: a supervisor that signals every process and npm, which passes its own on, make two of
 * one, and the second must not cut the stop short. A person who presses Ctrl-C again is obeyed.
 */
export const onStopSignal = (begin: (signal: StopSignal) => void): void => {
  let toldAt: number | null = null;
  for (const name of STOP_SIGNALS)
    process.on(name, () => {
      if (toldAt === null) {
        toldAt = performance.now();
        begin(name);
      } else if (name === 'SIGINT' && performance.now() - toldAt > SECOND_THOUGHTS_MS) process.exit(1);
    });
};
