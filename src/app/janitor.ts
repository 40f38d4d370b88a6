import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Context } from '../api/context.ts';
import { prune, type RetentionRule } from '../db/prune.ts';
import { forgetEndedWindows } from '../db/rate-windows.ts';
import type { Tables } from '../db/schema.ts';
import { KEPT_MS } from '../events/event.ts';
import { DELETED_AFTER_MS } from '../events/feed.ts';
import { monthsBefore } from '../lib/time.ts';
import { forgetEndedReturns } from '../personal-data/erase.ts';
import { finishErasures } from '../personal-data/erasures.ts';
import { warning } from '../platform/log.ts';
import { unassignRemovedUsers } from '../returns/assignees.ts';
import { REMEMBERED_MS } from '../returns/idempotency.ts';
import { ADDRESS_KEPT_MS } from '../staff/sessions.ts';
import { PENDING } from '../webhooks/queue.ts';

const EVERY_MS = 10 * 60_000;
/** The first sweep runs soon, for processes that restart often, at a random time, since many may start together. */
const FIRST_WITHIN_MS = 30_000;

type CleanupStep = (ctx: Context, nowMs: number) => Promise<boolean>;

const RETENTION = {
  idempotency_keys: { by: 'created_at', keptMs: REMEMBERED_MS },
  sessions: { by: 'expires_at', keptMs: 0 },
  access_links: { by: 'expires_at', keptMs: 0 },
  sign_in_failures: { by: 'expires_at', keptMs: 0 },
  sign_in_addresses: { by: 'seen_at', keptMs: ADDRESS_KEPT_MS },
  events: { by: 'id', keptMs: DELETED_AFTER_MS },
  webhook_deliveries: { by: 'id', keptMs: KEPT_MS, only: sql<boolean>`status <> ${PENDING}` },
  // Entries are kept for AUDIT_MONTHS.
  audit_log: { by: 'id', keptMs: ADDRESS_KEPT_MS, blank: 'address' },
} as const satisfies { [Table in keyof Tables]?: RetentionRule<keyof Tables[Table]> & { keptMs: number } };
type Pruned = keyof typeof RETENTION;

export const purgeExpired =
  (table: Pruned) =>
  (ctx: Pick<Context, 'background'>, nowMs: number): Promise<boolean> =>
    prune(ctx, table, RETENTION[table], nowMs - RETENTION[table].keptMs);

/** Each step deletes a bounded number of expired rows and returns whether more are due. */
const STEPS: CleanupStep[] = [
  ...(Object.keys(RETENTION) as Pruned[]).map(purgeExpired),
  (ctx, nowMs) => prune(ctx, 'audit_log', { by: 'id' }, monthsBefore(nowMs, ctx.config.auditMonths)),
  forgetEndedWindows,
  unassignRemovedUsers,
  finishErasures,
  forgetEndedReturns,
  (ctx) => ctx.analyze().then(() => false),
  (ctx) => ctx.scrub().then(() => false),
];

/** Runs the steps, with requests between them. A step that fails, at a lock for example, does not stop the others. */
export const sweep = async (ctx: Context, signal?: AbortSignal): Promise<void> => {
  const runAll = async (step: CleanupStep): Promise<void> => {
    while (!signal?.aborted && (await step(ctx, ctx.clock.now()))) await nextTurn();
  };
  for (const step of STEPS)
    await runAll(step).catch(warning(ctx.log, 'cleanup step failed; it will be tried again'));
};

export const startJanitor = (ctx: Context): (() => void) => {
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const sweepAfter = (ms: number): void => {
    timer = setTimeout(async () => {
      await sweep(ctx, stopping.signal);
      if (!stopping.signal.aborted) sweepAfter(EVERY_MS);
    }, ms).unref();
  };
  sweepAfter(Math.random() * FIRST_WITHIN_MS);
  return () => {
    clearTimeout(timer);
    stopping.abort();
  };
};
