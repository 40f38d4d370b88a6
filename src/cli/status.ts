import { expiringKeys } from '../api-clients/store.ts';
import { readSchedule } from '../backup/schedule.ts';
import { isUnavailable } from '../db/database-errors.ts';
import { knownMigrations, NOT_SET_UP } from '../db/migrate.ts';
import { type Reading, withSnapshot } from '../db/transfer.ts';
import { DAY_MS, toIso } from '../lib/time.ts';
import { type Config, readConfig, type SettingInForce, VERSION } from '../platform/config.ts';
import { CliFailure } from '../platform/start-failure.ts';
import { countPendingDeliveries, findWaitingOrFailingClients } from '../webhooks/queue.ts';
import { type CommandResult, print } from './command.ts';
import { DOCTOR_LIMITS, databaseNow } from './doctor-data.ts';

// The command `status` shows the whole installation at a glance. It changes nothing, and leaves judgements to `doctor`.

const KEYS_WITHIN_DAYS = 30;
/** The maximum number of receivers and keys in the output. The counts include all of them. */
const MAX_ROWS_SHOWN = 50;

const iso = (ms: number | null | undefined): string | null =>
  ms === null || ms === undefined ? null : toIso(Math.round(ms));

export const status = async (json: boolean | undefined): Promise<void> => {
  const settings: SettingInForce[] = [];
  const config = readConfig(process.env, (setting) => settings.push(setting));
  const found = await withSnapshot(config, (reading) => readStatus(reading, config), DOCTOR_LIMITS);
  if (json) return print({ version: VERSION, ...found, settings }, true);
  const { receivers, keys, ...rest } = found;
  print(flatten({ version: VERSION, ...rest }), false);
  const section = (title: string, rows: CommandResult): void => {
    process.stdout.write(`\n${title}\n`);
    print(rows, false);
  };
  section(`receivers that fail or wait (${receivers.count})`, receivers.first);
  section(`keys that expire within ${KEYS_WITHIN_DAYS} days (${keys.count})`, keys.first);
  section('settings', settings);
};

/** Explains errors of a database with pending migrations, which may lack a column or table that is read here. */
const readStatus = async (reading: Reading, config: Config) => {
  const applied = await reading.migrations();
  if (applied.length === 0) throw new CliFailure(NOT_SET_UP);
  const missing = knownMigrations().filter((name) => !applied.includes(name));
  const schema = { newest: applied.at(-1) ?? null, missing };
  return collectStatus(reading, config, schema).catch((error) => {
    if (missing.length === 0 || isUnavailable(error)) throw error;
    throw new CliFailure(
      `this database lacks the migration ${missing[0]}: start a service or run handback migrate`,
    );
  });
};

const collectStatus = async (
  reading: Reading,
  config: Config,
  schema: { newest: string | null; missing: string[] },
) => {
  const { db } = reading;
  const nowMs = await databaseNow(reading);
  const waiting = await countPendingDeliveries(db);
  const receivers = await findWaitingOrFailingClients(db);
  const backups = await readSchedule(db);
  const keys = await expiringKeys(db, nowMs + KEYS_WITHIN_DAYS * DAY_MS);
  const leases = await db
    .selectFrom('webhook_leases')
    .select((eb) => [eb.fn.countAll().as('count'), eb.fn.min('held_until').as('until')])
    .executeTakeFirstOrThrow();
  return {
    database: (await reading.server()).version,
    schema,
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
      first: receivers.slice(0, MAX_ROWS_SHOWN).map(({ since, oldestAt, ...receiver }) => ({
        ...receiver,
        failingSince: iso(since),
        oldestWaitingAt: iso(oldestAt),
      })),
    },
    keys: {
      count: keys.length,
      first: keys
        .slice(0, MAX_ROWS_SHOWN)
        .map(({ expires_at, ...key }) => ({ ...key, expiresAt: iso(expires_at) })),
    },
  };
};

const flatten = (result: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(result).flatMap(([name, value]) =>
      value !== null && typeof value === 'object'
        ? Object.entries(value).map(([field, inner]) => [`${name} ${field}`, inner])
        : [[name, value]],
    ),
  );
