import { access, constants, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { Db } from '../db/database.ts';
import { reasonOf } from '../db/database-errors.ts';
import { findFact, replaceFact } from '../db/installation-facts.ts';
import { DAY_MS, toIso } from '../lib/time.ts';
import { type BackupSchedule, type Config, ConfigError } from '../service/config.ts';
import type { Context } from '../service/context.ts';
import { describeError, warning } from '../service/log.ts';
import { CliFailure, fileError } from '../service/start-failure.ts';
import { encrypterFor } from './encryption.ts';
import { takeBackup } from './take-backup.ts';

// One backup a day, by one process of all. What is due is claimed with one statement on one row; a claim without a result, since its
// process died or failed, is open again after two hours.

const OPEN_AGAIN_MS = 2 * 60 * 60_000;
const LOOK_EVERY_MS = 60_000;
/** No process writes this long without a byte: it is of one that was killed. */
const ABANDONED_MS = 60 * 60_000;
/** A day, and as long as two more tries take. */
const LATE_MS = 26 * 60 * 60_000 + OPEN_AGAIN_MS;

/** The fact `scheduled-backup`; times in milliseconds. */
const ScheduleState = z.object({
  /** Which backup the claim is for. */
  due: z.number(),
  claimedAt: z.number(),
  doneAt: z.number().nullable(),
  /** Why the last try failed. */
  error: z.string().nullable(),
  /** The newest good one. */
  newest: z.object({ at: z.number(), file: z.string(), bytes: z.number() }).nullable(),
});
export type ScheduleState = z.infer<typeof ScheduleState>;

const FACT = 'scheduled-backup';

/** One that cannot be read counts as none: a backup is taken, and its claim takes the place of the damaged row. */
const stateIn = (value: string | null): ScheduleState | null => {
  try {
    return ScheduleState.parse(JSON.parse(value ?? ''));
  } catch {
    return null;
  }
};

export const readSchedule = async (db: Db): Promise<ScheduleState | null> =>
  stateIn(await findFact(db, FACT));

export const isLate = (state: ScheduleState | null, nowMs: number): boolean =>
  nowMs - (state?.newest?.at ?? 0) > LATE_MS;

/** The latest time of day that is past. */
const lastDue = (nowMs: number, { dailyAtMs }: BackupSchedule): number =>
  Math.floor((nowMs - dailyAtMs) / DAY_MS) * DAY_MS + dailyAtMs;

const isOpen = ({ due: claimed, claimedAt, doneAt }: ScheduleState, due: number, nowMs: number): boolean => {
  // A little ahead of now is a claim that another process has just made; far ahead, the time of a clock that was wrong.
  if (doneAt !== null) return claimed < due || claimed > nowMs + OPEN_AGAIN_MS;
  return Math.abs(nowMs - claimedAt) >= OPEN_AGAIN_MS;
};

/** Only of this schedule: other files in the folder are never touched. In the order of time. */
const OWN_NAME = /^handback-daily-\d{4}-\d\d-\d\dT\d{6}Z\.backup(\.age)?$/;
const OWN_DRAFT = /^handback-daily-.*\.backup(\.age)?\.[0-9a-f]{8}\.part$/;
const nameAt = (ms: number, isEncrypted: boolean): string =>
  `handback-daily-${toIso(ms).slice(0, 19).replaceAll(':', '')}Z.backup${isEncrypted ? '.age' : ''}`;

const deleteOld = async (folder: string, keep: number, newest: string): Promise<void> => {
  const names = (await readdir(folder)).filter((name) => OWN_NAME.test(name) && name !== newest);
  const newestFirst = names.sort().reverse();
  for (const name of newestFirst.slice(keep - 1)) await rm(join(folder, name));
};

const deleteAbandoned = async (folder: string): Promise<void> => {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (OWN_DRAFT.test(name) && Date.now() - (await stat(path)).mtimeMs > ABANDONED_MS)
      await rm(path, { force: true });
  }
};

/** In words that quote no row. */
const wordsFor = (error: unknown): string => {
  if (error instanceof CliFailure || error instanceof ConfigError) return error.message;
  const { code, name } = error as NodeJS.ErrnoException;
  return reasonOf(error) ?? fileError(error, 'BACKUP_DIR is gone') ?? code ?? name;
};

/** Takes the backup that is due, if no process has or does. */
export const backUpIfDue = async (ctx: Context, schedule: BackupSchedule, signal: AbortSignal) => {
  const { db, log, clock, config, metrics } = ctx;
  const claimedAt = clock.now();
  const due = lastDue(claimedAt, schedule);
  const before = await findFact(db, FACT);
  const state = stateIn(before);
  if (state && !isOpen(state, due, claimedAt)) return;
  const claim = { due, claimedAt, doneAt: null, error: null, newest: state?.newest ?? null };
  if (!(await replaceFact(db, FACT, before, JSON.stringify(claim)))) return;
  if (before !== null && !state)
    log.warn('the stored state of scheduled backups could not be read; a backup is taken now');
  // Where another process has claimed it in the meantime, its result counts.
  const settle = (result: Partial<ScheduleState>): Promise<unknown> =>
    replaceFact(db, FACT, JSON.stringify(claim), JSON.stringify({ ...claim, ...result })).catch(
      warning(log, 'the result of a backup could not be saved; it will be taken again'),
    );
  const { backupRecipients: recipients } = config;
  const name = nameAt(claimedAt, recipients.length > 0);
  try {
    await deleteAbandoned(schedule.folder);
    const { bytes, rows } = await takeBackup(config, join(schedule.folder, name), { recipients, signal });
    log.info({ file: name, bytes, rows, ms: clock.now() - claimedAt }, 'backup taken');
    await settle({ doneAt: clock.now(), newest: { at: claimedAt, file: name, bytes } });
  } catch (error) {
    if (signal.aborted) return void (await settle({ claimedAt: 0 }));
    metrics.failedBackups.inc();
    const reason = wordsFor(error);
    log.error({ reason, error: describeError(error) }, 'backup failed; it will be tried again in two hours');
    return void (await settle({ error: reason }));
  }
  await deleteOld(schedule.folder, schedule.keep, name).catch(
    warning(log, 'old backups could not be deleted'),
  );
};

/** Throws where a backup could not be written or encrypted. */
export const checkBackups = async ({ backups, backupRecipients, role }: Config): Promise<void> => {
  if (!backups || role === 'api') return;
  const { folder } = backups;
  await access(`${folder}/.`, constants.W_OK | constants.R_OK).catch((error) => {
    const why = fileError(error, 'there is no such folder') ?? error.code;
    throw new ConfigError(`backups cannot be written to ${folder}: ${why} (BACKUP_DIR)`);
  });
  if (backupRecipients.length > 0) await encrypterFor(backupRecipients);
};

const runSchedule = async (ctx: Context, schedule: BackupSchedule, stop: AbortSignal): Promise<void> => {
  while (!stop.aborted) {
    await backUpIfDue(ctx, schedule, stop).catch(
      warning(ctx.log, 'the schedule of backups could not be read; it will be tried again'),
    );
    // Rejects when it is stopped.
    await pause(LOOK_EVERY_MS, null, { signal: stop, ref: false }).catch(() => {});
  }
};

/** Returns what stops the schedule, and a backup that is being taken. */
export const startBackups = (ctx: Context): (() => Promise<void>) => {
  const { backups, role } = ctx.config;
  ctx.metrics.watch(
    'handback_backup_age_seconds',
    'Age of the newest good backup of the schedule; +Inf where there is none yet, NaN where no backup is scheduled.',
    async () => {
      if (!backups) return Number.NaN;
      const newest = (await readSchedule(ctx.db))?.newest;
      return newest ? (ctx.clock.now() - newest.at) / 1000 : Number.POSITIVE_INFINITY;
    },
  );
  const stopping = new AbortController();
  const running = backups && role !== 'api' ? runSchedule(ctx, backups, stopping.signal) : null;
  return async () => {
    stopping.abort();
    await running;
  };
};
