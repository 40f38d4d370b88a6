import { expiringKeys } from '../api-clients/store.ts';
import { readSchedule } from '../backup/schedule.ts';
import { MIGRATIONS, NOT_SET_UP } from '../db/migrate.ts';
import { type Reading, withSnapshot } from '../db/transfer.ts';
import { DAY_MS, toIso } from '../lib/time.ts';
import { type Config, readConfig, type SettingInForce, VERSION } from '../service/config.ts';
import { CliFailure } from '../service/start-failure.ts';
import { findReceivers, findWaiting } from '../webhooks/queue.ts';
import { type CommandResult, print } from './command.ts';
import { DOCTOR_LIMITS, nowOf } from './doctor-data.ts';

// `status`: the whole installation at a glance. It changes nothing; `doctor` judges.

/** What is read here came with this migration, or before. */
const READS_SCHEMA = '0003-client-rights';
const KEYS_WITHIN_DAYS = 30;
/** Of receivers and of keys; the counts are of all. */
const MOST_SHOWN = 50;

const iso = (ms: number | null | undefined): string | null =>
  ms === null || ms === undefined ? null : toIso(Math.round(ms));

export const status = async (json: boolean | undefined): Promise<void> => {
  const settings: SettingInForce[] = [];
  const config = readConfig(process.env, (setting) => settings.push(setting));
  const found = await withSnapshot(config, (reading) => look(reading, config), DOCTOR_LIMITS);
  if (json) return print({ version: VERSION, ...found, settings }, true);
  const { receivers, keys, ...rest } = found;
  print(flat({ version: VERSION, ...rest }), false);
  const section = (title: string, rows: CommandResult): void => {
    process.stdout.write(`\n${title}\n`);
    print(rows, false);
  };
  section(`receivers that fail or wait (${receivers.count})`, receivers.first);
  section(`keys that expire within ${KEYS_WITHIN_DAYS} days (${keys.count})`, keys.first);
  section('settings', settings);
};

const look = async (reading: Reading, config: Config) => {
  const { db } = reading;
  const nowMs = await nowOf(reading);
  const applied = await reading.migrations();
  if (!applied.includes(READS_SCHEMA)) {
    if (applied.length === 0) throw new CliFailure(NOT_SET_UP);
    throw new CliFailure(
      `this database is older than ${READS_SCHEMA}: the start of a service brings it up to date, or handback migrate`,
    );
  }
  const waiting = await findWaiting(db);
  const receivers = await findReceivers(db);
  const backups = await readSchedule(db);
  const keys = await expiringKeys(db, nowMs + KEYS_WITHIN_DAYS * DAY_MS);
  const leases = await db
    .selectFrom('webhook_leases')
    .select((eb) => [eb.fn.countAll().as('count'), eb.fn.min('held_until').as('until')])
    .executeTakeFirstOrThrow();
  return {
    database: (await reading.server()).version,
    schema: { newest: applied.at(-1) ?? null, missing: MIGRATIONS.filter((name) => !applied.includes(name)) },
    queue: {
      waiting: waiting.count,
      oldestSeconds: waiting.oldestAt === null ? null : Math.round((nowMs - waiting.oldestAt) / 1000),
    },
    leases: { count: Number(leases.count), oldestHeldUntil: iso(leases.until) },
    backup: {
      scheduled: config.backups !== null,
      newestAt: iso(backups?.newest?.at),
      file: backups?.newest?.file ?? null,
      error: backups?.error ?? null,
    },
    receivers: {
      count: receivers.length,
      first: receivers.slice(0, MOST_SHOWN).map(({ since, oldestAt, ...receiver }) => ({
        ...receiver,
        failingSince: iso(since),
        oldestWaitingAt: iso(oldestAt),
      })),
    },
    keys: {
      count: keys.length,
      first: keys
        .slice(0, MOST_SHOWN)
        .map(({ expires_at, ...key }) => ({ ...key, expiresAt: iso(expires_at) })),
    },
  };
};

const flat = (result: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(result).flatMap(([name, value]) =>
      value !== null && typeof value === 'object'
        ? Object.entries(value).map(([field, inner]) => [`${name} ${field}`, inner])
        : [[name, value]],
    ),
  );
