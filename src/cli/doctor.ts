import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { isUnavailable } from '../db/database-errors.ts';
import { findFact } from '../db/installation-facts.ts';
import { MIGRATIONS, SCHEMA_DIALECTS, unknownMigration, wrongSchema } from '../db/migrate.ts';
import { detectPooler } from '../db/open.ts';
import { type PoolerMode, type Reading, type ServerFacts, snapshotOf } from '../db/transfer.ts';
import { type Config, ConfigError, needsStartTls, readConfig } from '../service/config.ts';
import { explainStartFailure } from '../service/start-failure.ts';
import { isAhead } from '../shops/counters.ts';
import { print } from './command.ts';
import {
  checkCounters,
  checkErasures,
  checkKeys,
  checkQueue,
  checkSecretKey,
  checkTotals,
  type Finding,
  isTooLate,
  ok,
  STATEMENT_MS,
  warn,
  wrong,
} from './doctor-data.ts';

type Checked = Finding & { check: string };

/** Prints findings as they come; with `--json` all of them at the end. */
export const doctor = async (json: boolean | undefined): Promise<void> => {
  const checks: Checked[] = [];
  await examine((checked) => {
    checks.push(checked);
    if (!json)
      process.stdout.write(`${checked.state.padEnd(5)}  ${checked.check.padEnd(10)}  ${checked.message}\n`);
  });
  const isOk = checks.every(({ state }) => state !== 'wrong');
  if (json) print({ ok: isOk, checks }, true);
  if (!isOk) process.exitCode = 1;
};

const examine = async (report: (checked: Checked) => void): Promise<void> => {
  const look = async (check: string, work: () => Promise<Finding | null>): Promise<Finding | null> => {
    const finding = await work().catch(failed);
    if (finding) report({ check, ...finding });
    return finding;
  };
  const settings = await look('settings', async () => checkSettings(readConfig(process.env)));
  if (settings?.state === 'wrong') return;
  const config = readConfig(process.env);
  const read = snapshotOf(config, STATEMENT_MS);
  const server = await look('database', () => read(async (reading) => checkServer(await reading.server())));
  if (server?.state === 'ok') {
    const schema = await look('migrations', () => read(checkMigrations));
    await look('pooler', () => checkPooler(config));
    if (schema?.state === 'ok')
      for (const [name, check] of DATA_CHECKS)
        await look(name, () => read((reading) => check(reading, config)));
    else report({ check: 'data', ...warn('not checked: its schema is not that of this release') });
  }
  await look('disk', () => checkDisk(config));
};

const failed = (error: unknown): Finding => {
  if (isTooLate(error)) return warn('not checked in time');
  if (error instanceof ConfigError) return wrong(error.message);
  const why = explainStartFailure(error);
  return isUnavailable(error) ? wrong(why) : wrong(`could not be checked: ${safe(error, why)}`);
};

/** The message of a database may quote a row. */
const safe = (error: unknown, words: string): string => {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && !words.startsWith('cannot ') ? code : words;
};

// --- checks of what the service needs ---

const LOOPBACK = /^(127\.|localhost$|::1$)/;

const checkSettings = (config: Config): Finding => {
  const { allowPrivateWebhooks, host, publicUrlIsSet, mail, databaseUrl, dataDir } = config;
  const doubts: string[] = [];
  if (allowPrivateWebhooks)
    doubts.push('WEBHOOK_ALLOW_PRIVATE_NETWORKS lets webhooks into private networks: for development only');
  if (!LOOPBACK.test(host) && !publicUrlIsSet)
    doubts.push('PUBLIC_URL is not set: links lead to the address the service listens on');
  if (mail && !mail.requireTls && needsStartTls(mail.smtpUrl))
    doubts.push('SMTP_ALLOW_PLAIN lets mails, their links and the password in SMTP_URL go out unencrypted');
  const where = databaseUrl ? 'PostgreSQL (DATABASE_URL)' : `SQLite in ${dataDir}`;
  return doubts.length === 0 ? ok(`can be used; data is in ${where}`) : warn(doubts.join('; '));
};

const SEEN_LATELY_MS = 7 * 24 * 60 * 60_000;

/** The service records such requests: behind a proxy that is not trusted all callers have one address, and one limit. */
const checkProxy = async (reading: Reading, config: Config): Promise<Finding | null> => {
  const seen = config.trustProxy === false ? await findFact(reading.db, 'untrusted-proxy') : null;
  const seenMs = Number(seen);
  const nowMs = (await reading.server()).nowMs ?? Date.now();
  return seen === null || nowMs - seenMs > SEEN_LATELY_MS
    ? null
    : warn(
        `requests came with X-Forwarded-For (${new Date(seenMs).toISOString()}), but TRUST_PROXY is off: behind a proxy all callers count as one address; set it, or let the proxy remove the header`,
      );
};

const checkServer = ({ version, isSupported }: ServerFacts): Finding =>
  isSupported ? ok(`${version} answers`) : wrong(`${version} is too old: the service needs 14 or newer`);

const checkMigrations = async (reading: Reading): Promise<Finding> => {
  const applied = await reading.migrations();
  const unknown = unknownMigration(applied);
  if (unknown) return wrong(`${unknown.by} has migrated this database (${unknown.name}): run that one`);
  const waiting = MIGRATIONS.filter((name) => !applied.includes(name));
  if (waiting.length > 0)
    return warn(
      `${waiting.length} wait, from ${waiting[0]} on: the next start applies them, or handback migrate`,
    );
  const problem = await wrongSchema(reading.db, SCHEMA_DIALECTS[reading.engine]);
  return problem ? wrong(problem) : ok(`up to date (${MIGRATIONS.at(-1)})`);
};

/** Nothing that matters is judged by this machine's clock; what it stamps (logs, tokens of others) is. */
const FAR_APART_MS = 2_000;
const AHEAD_MS = 60_000;

const checkClock = async (reading: Reading): Promise<Finding> => {
  const askedAt = Date.now();
  const server = await reading.server();
  const ownMs = (askedAt + Date.now()) / 2;
  const apart = server.nowMs === null ? 0 : Math.round(server.nowMs - ownMs);
  if (Math.abs(apart) >= FAR_APART_MS)
    return warn(
      `this machine's clock is ${inSeconds(Math.abs(apart))} ${apart > 0 ? 'behind' : 'ahead of'} the database's: the service goes by the database's, but set it (NTP)`,
    );
  const newest = await reading.db
    .selectFrom('shop_counters')
    .select((eb) => [eb.fn.max('last_at').as('at'), eb.fn.max('month').as('month')])
    .executeTakeFirst();
  if (isAhead(newest?.month ?? '', ownMs + apart))
    return warn(
      `a shop counts in the month ${newest?.month}: the clock was wrong; its next creation counts in this month, docs/operations.md says how to count it anew`,
    );
  const ahead = Number(newest?.at ?? 0) - (ownMs + apart);
  if (ahead > AHEAD_MS)
    return warn(
      `the newest change is dated ${inSeconds(ahead)} ahead of now: the clock was wrong, or is; changes keep that time until it has passed`,
    );
  return ok(server.nowMs === null ? "this machine's own" : `${Math.abs(apart)} ms from the database's`);
};

const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const BETWEEN: Record<PoolerMode, Finding> = {
  nothing: ok('none: connections lead to PostgreSQL itself'),
  sessions: ok('one that keeps a session for each connection, as far as can be seen'),
  'shared sessions': wrong(
    'one that shares sessions between transactions (DATABASE_URL): wake-up calls and prepared statements get lost; use session mode there',
  ),
};

const checkPooler = async (config: Config): Promise<Finding | null> => {
  const found = await detectPooler(config);
  return found && BETWEEN[found];
};

/** In this order. A snapshot for each: one whose statement PostgreSQL cancelled is of no more use. */
const DATA_CHECKS: [string, (reading: Reading, config: Config) => Promise<Finding | null>][] = [
  ['clock', checkClock],
  ['secret key', checkSecretKey],
  ['proxy', checkProxy],
  ['queue', checkQueue],
  ['keys', checkKeys],
  ['erasures', checkErasures],
  ['totals', checkTotals],
  ['counters', checkCounters],
];

const LITTLE_BYTES = 1e9;
const TOO_LITTLE_BYTES = 1e8;

/** Only where there is data on this machine: the disk of a server cannot be seen from here. */
const checkDisk = async (config: Config): Promise<Finding | null> => {
  if (config.databaseUrl || !existsSync(config.dataDir)) return null;
  const { bavail, bsize } = await statfs(config.dataDir);
  const free = bavail * bsize;
  const words = `${(free / 1e9).toFixed(1)} GB are free in ${config.dataDir}`;
  if (free < TOO_LITTLE_BYTES) return wrong(`${words}: free some space, or writes will soon fail`);
  return free < LITTLE_BYTES ? warn(`${words}: free some space soon`) : ok(words);
};
