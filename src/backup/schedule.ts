import { randomBytes } from 'node:crypto';
import { access, constants, readdir, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { reasonOf } from '../db/database-errors.ts';
import { findFact, replaceFact } from '../db/installation-facts.ts';
import type { Db } from '../db/types.ts';
import { ConfigError } from '../lib/config-error.ts';
import { DAY_MS, toIso } from '../lib/time.ts';
import type { BackupSchedule, Config } from '../platform/config.ts';
import type { Core } from '../platform/core.ts';
import { describeError, warning } from '../platform/log.ts';
import { CliFailure, fileError } from '../platform/start-failure.ts';
import { encrypterFor } from './encryption.ts';
import { takeBackup } from './take-backup.ts';

// One of all processes takes one backup a day. It claims the due backup with one statement on one row. A claim without a result
// is open again two hours after its process failed, died or last wrote a row.

const REOPEN_AFTER_MS = 2 * 60 * 60_000;
/** A claim is renewed while rows are written. Otherwise a second backup would start after two hours and replace its result. */
const RENEW_EVERY_MS = 10 * 60_000;
const CHECK_DUE_EVERY_MS = 60_000;
/** A claim that was not renewed for this long belongs to a process that died or hangs. */
const STALLED_AFTER_MS = RENEW_EVERY_MS + 5 * 60_000;
/** A backup is late after a day and the time of two more attempts. */
export const LATE_AFTER_MS = 26 * 60 * 60_000 + REOPEN_AFTER_MS;

/** The value of the fact `scheduled-backup`, with times in milliseconds. */
const ScheduleState = z.object({
  due: z.number(),
  claimedAt: z.number(),
  doneAt: z.number().nullable(),
  error: z.string().nullable(),
  newest: z
    .object({ at: z.number(), file: z.string(), bytes: z.number(), host: z.string().optional() })
    .nullable(),
});
export type ScheduleState = z.infer<typeof ScheduleState>;

const SCHEDULE_FACT = 'scheduled-backup';

/** A state that cannot be read counts as none, so a backup is taken and its claim replaces the damaged row. */
const parseState = (value: string | null): ScheduleState | null => {
  try {
    return ScheduleState.parse(JSON.parse(value ?? ''));
  } catch {
    return null;
  }
};

export const readSchedule = async (db: Db): Promise<ScheduleState | null> =>
  parseState(await findFact(db, SCHEDULE_FACT));

/** Forgets the schedule after a restore: backups of the other installation are not ours, and our folder may be empty. */
export const forgetSchedule = async (db: Db): Promise<void> => {
  await db.deleteFrom('installation').where('name', 'in', [SCHEDULE_FACT, 'installation-id']).execute();
};

/** Reopens a claim at a start on SQLite, where the lock of the folder proves that the process with the claim has ended. */
export const reopenClaim = async ({ db }: Pick<Core, 'db'>): Promise<void> => {
  const before = await findFact(db, SCHEDULE_FACT);
  const state = parseState(before);
  if (state && isInProgress(state))
    await replaceFact(db, SCHEDULE_FACT, before, JSON.stringify({ ...state, claimedAt: 0 }));
};

const isInProgress = ({ doneAt, error }: ScheduleState): boolean => doneAt === null && error === null;

/** Returns the state of a backup that has not ended: its process lives, or has probably died. */
export const unfinishedState = (state: ScheduleState, nowMs: number): 'running' | 'stalled' | null => {
  if (!isInProgress(state) || state.claimedAt === 0) return null;
  return nowMs - state.claimedAt > STALLED_AFTER_MS ? 'stalled' : 'running';
};

export type NewestBackup = NonNullable<ScheduleState['newest']>;

/** Checks that the newest backup is still in the folder and has its size. */
export const checkFile = async (
  folder: string,
  { file, bytes }: NewestBackup,
): Promise<'there' | 'gone' | 'changed'> => {
  const found = await stat(join(folder, file)).catch(() => null);
  if (!found) return 'gone';
  return found.size === bytes ? 'there' : 'changed';
};

export const isLate = (state: ScheduleState | null, nowMs: number): boolean =>
  nowMs - (state?.newest?.at ?? 0) > LATE_AFTER_MS;

/** The latest due time in the past. */
const lastDue = (nowMs: number, { dailyAtMs }: BackupSchedule): number =>
  Math.floor((nowMs - dailyAtMs) / DAY_MS) * DAY_MS + dailyAtMs;

const isClaimable = (
  { due: claimed, claimedAt, doneAt }: ScheduleState,
  due: number,
  nowMs: number,
): boolean => {
  // A due time slightly ahead belongs to a claim that another process has just made; one far ahead came from a wrong clock.
  if (doneAt !== null) return claimed < due || claimed > nowMs + REOPEN_AFTER_MS;
  return Math.abs(nowMs - claimedAt) >= REOPEN_AFTER_MS;
};

/** The id in file names, since several installations may share a folder. A restored installation gets a new one. */
const installationId = async (db: Db): Promise<string> => {
  const known = await findFact(db, 'installation-id');
  if (known) return known;
  await replaceFact(db, 'installation-id', null, randomBytes(4).toString('hex'));
  return (await findFact(db, 'installation-id')) ?? '';
};

const fileNameAt = (id: string, ms: number, isEncrypted: boolean): string =>
  `handback-daily-${id}-${toIso(ms).slice(0, 19).replaceAll(':', '')}Z.backup${isEncrypted ? '.age' : ''}`;

/** Recognises files of this installation's schedule. Other files, and those with a future date, are never touched. */
const isOwn = (name: string, id: string, nowMs: number): boolean => {
  const [, installation, day, hours, minutes, seconds] =
    /^handback-daily-([0-9a-f]{8})-(\d{4}-\d\d-\d\d)T(\d\d)(\d\d)(\d\d)Z\.backup(?:\.age)?$/.exec(name) ?? [];
  return installation === id && Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`) <= nowMs;
};

interface OldBackups extends BackupSchedule {
  id: string;
  newest: string;
  nowMs: number;
}

const deleteOldBackups = async ({ folder, keep, id, newest, nowMs }: OldBackups): Promise<void> => {
  const names = (await readdir(folder)).filter((name) => isOwn(name, id, nowMs) && name !== newest);
  const newestFirst = names.sort().reverse();
  for (const name of newestFirst.slice(keep - 1)) await rm(join(folder, name));
};

/** Describes an error without quoting a row. */
const describeBackupError = (error: unknown): string => {
  if (error instanceof CliFailure || error instanceof ConfigError) return error.message;
  const { code, name } = error as NodeJS.ErrnoException;
  return reasonOf(error) ?? fileError(error, 'BACKUP_DIR is gone') ?? code ?? name;
};

/** The claim of this process. Once another process has claimed the backup, nothing is saved here and its result counts. */
class Claim {
  readonly #ctx: Core;
  #state: ScheduleState;
  #renewedAt: number;
  #saving: Promise<unknown> = Promise.resolve();

  constructor(ctx: Core, state: ScheduleState) {
    this.#ctx = ctx;
    this.#state = state;
    this.#renewedAt = state.claimedAt;
  }

  readonly renew = (): void => {
    const claimedAt = this.#ctx.clock.now();
    if (claimedAt - this.#renewedAt < RENEW_EVERY_MS) return;
    this.#renewedAt = claimedAt;
    void this.save({ claimedAt });
  };

  save(change: Partial<ScheduleState>): Promise<unknown> {
    const { db, log } = this.#ctx;
    const failed = warning(log, 'the state of a backup could not be saved; it may be taken again');
    this.#saving = this.#saving.then(() => this.#replace(db, { ...this.#state, ...change })).catch(failed);
    return this.#saving;
  }

  async #replace(db: Db, next: ScheduleState): Promise<void> {
    if (await replaceFact(db, SCHEDULE_FACT, JSON.stringify(this.#state), JSON.stringify(next)))
      this.#state = next;
  }
}

const claimDue = async (ctx: Core, schedule: BackupSchedule): Promise<Claim | null> => {
  const claimedAt = ctx.clock.now();
  const due = lastDue(claimedAt, schedule);
  const before = await findFact(ctx.db, SCHEDULE_FACT);
  const known = parseState(before);
  if (known && !isClaimable(known, due, claimedAt)) return null;
  const state = { due, claimedAt, doneAt: null, error: null, newest: known?.newest ?? null };
  if (!(await replaceFact(ctx.db, SCHEDULE_FACT, before, JSON.stringify(state)))) return null;
  if (before !== null && !known)
    ctx.log.warn('the stored state of scheduled backups could not be read; a backup is taken now');
  return new Claim(ctx, state);
};

/** Takes the due backup, unless another process has taken it or is taking it. */
export const backUpIfDue = async (ctx: Core, schedule: BackupSchedule, signal: AbortSignal) => {
  const { log, clock, config, metrics } = ctx;
  const claim = await claimDue(ctx, schedule);
  if (!claim) return;
  const { backupRecipients: recipients } = config;
  const at = clock.now();
  const id = await installationId(ctx.db);
  const name = fileNameAt(id, at, recipients.length > 0);
  try {
    await stat(schedule.folder);
    const path = join(schedule.folder, name);
    const { bytes, rows } = await takeBackup(config, path, { recipients, signal, onRow: claim.renew });
    log.info({ file: name, bytes, rows, ms: clock.now() - at }, 'backup taken');
    await claim.save({ doneAt: clock.now(), newest: { at, file: name, bytes, host: hostname() } });
  } catch (error) {
    if (signal.aborted) return void (await claim.save({ claimedAt: 0 }));
    metrics.failedBackups.inc();
    const reason = describeBackupError(error);
    log.error({ reason, error: describeError(error) }, 'backup failed; it will be tried again in two hours');
    return void (await claim.save({ error: reason }));
  }
  await deleteOldBackups({ ...schedule, id, newest: name, nowMs: clock.now() }).catch(
    warning(log, 'old backups could not be deleted'),
  );
};

const OTHERS_WRITE_ACCESS = 0o022;

/** Throws if a backup could not be written or encrypted, or if others could replace it. */
export const checkBackups = async ({ backups, backupRecipients, role }: Config): Promise<void> => {
  if (!backups || role === 'api') return;
  const { folder } = backups;
  await access(`${folder}/.`, constants.W_OK | constants.R_OK).catch((error) => {
    const why = fileError(error, 'there is no such folder') ?? error.code;
    throw new ConfigError(`backups cannot be written to ${folder}: ${why} (BACKUP_DIR)`);
  });
  const { uid, mode } = await stat(folder);
  if (process.getuid && (uid !== process.getuid() || (mode & OTHERS_WRITE_ACCESS) !== 0))
    throw new ConfigError(
      `backups are not safe in ${folder}: it must belong to user ${process.getuid()}, who runs the service, and no other may write there (chown, chmod 700; BACKUP_DIR)`,
    );
  if (backupRecipients.length > 0) await encrypterFor(backupRecipients);
};

const runSchedule = async (ctx: Core, schedule: BackupSchedule, stop: AbortSignal): Promise<void> => {
  while (!stop.aborted) {
    await backUpIfDue(ctx, schedule, stop).catch(
      warning(ctx.log, 'the schedule of backups could not be read; it will be tried again'),
    );
    // The pause rejects when the schedule is stopped.
    await pause(CHECK_DUE_EVERY_MS, null, { signal: stop, ref: false }).catch(() => {});
  }
};

/** Starts the schedule. The returned function stops it, including a backup in progress. */
export const startBackups = (ctx: Core): (() => Promise<void>) => {
  const { backups, role } = ctx.config;
  ctx.metrics.watch(
    'handback_backup_age_seconds',
    'Age of the newest good scheduled backup; +Inf if there is none or its file is missing or changed, NaN if no backup is scheduled.',
    async () => {
      if (!backups) return Number.NaN;
      const newest = (await readSchedule(ctx.db))?.newest;
      // A backup in the folder of another machine counts in the metric of that machine.
      const isThere = newest && (await checkFile(backups.folder, newest)) === 'there';
      return isThere ? (ctx.clock.now() - newest.at) / 1000 : Number.POSITIVE_INFINITY;
    },
  );
  const stopping = new AbortController();
  const running = backups && role !== 'api' ? runSchedule(ctx, backups, stopping.signal) : null;
  return async () => {
    stopping.abort();
    await running;
  };
};
