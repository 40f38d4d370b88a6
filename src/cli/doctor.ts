import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { isLockTimeout, isUnavailable, reasonOf } from '../db/database-errors.ts';
import { knownMigrations, SCHEMA_DIALECTS, unknownMigration, wrongSchema } from '../db/migrate.ts';
import { detectPooler } from '../db/open.ts';
import { connectionRoom, findBlockers } from '../db/postgres/activity.ts';
import { tlsOf } from '../db/postgres/hosts.ts';
import { connectionsOf } from '../db/postgres/pools.ts';
import { parseAddress } from '../db/server-address.ts';
import { type Reading, type ServerFacts, tryWrite, withSnapshot } from '../db/transfer.ts';
import type { Blocker, PoolerMode } from '../db/types.ts';
import { ConfigError } from '../lib/config-error.ts';
import { toIso } from '../lib/time.ts';
import { checkMailServer } from '../mail/mailer.ts';
import { type Config, needsStartTls, readConfig } from '../platform/config.ts';
import { explainStartFailure } from '../platform/start-failure.ts';
import { IdentityProvider, ProviderRefusal } from '../staff/oidc.ts';
import { print, printable } from './command.ts';
import {
  DATA_CHECKS,
  DOCTOR_LIMITS,
  type Finding,
  isTimeout,
  listSome,
  ok,
  warn,
  wrong,
} from './doctor-data.ts';

type RunCheck = (check: string, work: () => Promise<Finding | null>) => Promise<Finding | null>;

/** Prints each finding at once, or all of them at the end with `--json`. */
export const doctor = async (json: boolean | undefined): Promise<void> => {
  const checks: (Finding & { check: string })[] = [];
  await examine(async (check, work) => {
    const finding = await work().catch(findingForError);
    if (!finding) return null;
    checks.push({ check, ...finding });
    const { state, message } = finding;
    if (!json) process.stdout.write(`${state.padEnd(5)}  ${check.padEnd(11)}  ${printable(message)}\n`);
    return finding;
  });
  const isOk = checks.every(({ state }) => state !== 'wrong');
  if (json) print({ ok: isOk, checks }, true);
  if (!isOk) process.exitCode = 1;
};

const examine = async (runCheck: RunCheck): Promise<void> => {
  const settings = await runCheck('settings', async () => checkSettings(readConfig(process.env)));
  if (settings?.state === 'wrong') return;
  const config = readConfig(process.env);
  const read = <Found>(work: (reading: Reading) => Promise<Found>) =>
    withSnapshot(config, work, DOCTOR_LIMITS);
  const server = await runCheck('database', () =>
    read(async (reading) => checkServer(await reading.server())),
  );
  if (server?.state === 'ok') {
    const schema = await runCheck('migrations', () => read(checkMigrations));
    await runCheck('pooler', () => detectPooler(config).then((mode) => mode && POOLERS[mode]));
    if (schema?.state === 'ok') {
      await runCheck('writes', () => tryWrite(config).then(() => ok('accepted')));
      if (config.databaseUrl) {
        await runCheck('locks', () => read(checkLocks));
        await runCheck('connections', () => read((reading) => checkConnections(reading, config)));
      }
      for (const [name, check] of DATA_CHECKS)
        await runCheck(name, () => read((reading) => check(reading, config)));
    } else await runCheck('data', async () => warn('not checked: the schema is from another release'));
  }
  await runCheck('disk', () => checkDisk(config));
  await runCheck('mail', () => checkMail(config));
  await runCheck('provider', () => checkProvider(config));
};

const findingForError = (error: unknown): Finding => {
  if (isTimeout(error)) return warn('timed out');
  if (isLockTimeout(error)) return wrong('another session holds a lock on these rows: see the line locks');
  if (error instanceof ConfigError) return wrong(error.message);
  const why = explainStartFailure(error);
  if (isUnavailable(error)) return wrong(reasonOf(error) ?? why);
  // The message of a database error is replaced by its code, since it may quote a row.
  const { code } = error as { code?: unknown };
  const mayQuote = typeof code === 'string' && !why.startsWith('cannot ');
  return wrong(`could not be checked: ${mayQuote ? code : why}`);
};

// --- checks of what the service needs ---

const LOOPBACK = /^(127\.|localhost$|::1$)/;

const checkSettings = (config: Config): Finding => {
  const { allowPrivateWebhooks, host, publicUrlIsSet, mail, databaseUrl, dataDir } = config;
  const warnings: string[] = [];
  if (allowPrivateWebhooks)
    warnings.push('WEBHOOK_ALLOW_PRIVATE_NETWORKS lets webhooks into private networks: for development only');
  if (!LOOPBACK.test(host) && !publicUrlIsSet)
    warnings.push('PUBLIC_URL is not set: links lead to the address the service listens on');
  if (mail && !mail.requireTls && needsStartTls(mail.smtpUrl))
    warnings.push(
      'SMTP_ALLOW_PLAIN lets emails, their links and the password in SMTP_URL go out unencrypted',
    );
  for (const [how, hosts] of databaseUrl ? hostsAtRisk(databaseUrl) : [])
    warnings.push(
      `${hosts.join(', ')} is reached ${how}, so others in between can read and change everything: set sslmode=verify-full in DATABASE_URL`,
    );
  const where = databaseUrl ? 'PostgreSQL (DATABASE_URL)' : `SQLite in ${dataDir}`;
  return warnings.length === 0 ? ok(`valid; data is in ${where}`) : warn(warnings.join('; '));
};

const RISKS = { none: 'without TLS', unchecked: 'over TLS without a check of its certificate' };

/** Groups hosts of other machines by the risk of their connection. A host that is a path is a local socket. */
const hostsAtRisk = (databaseUrl: string): [string, string[]][] => {
  const hosts = parseAddress(databaseUrl).urls.flatMap((url) => {
    const { hostname, searchParams } = new URL(url);
    const host = searchParams.get('host') ?? hostname.replace(/^\[(.*)\]$/, '$1');
    const tls = tlsOf(url);
    const isHere = host === '' || host.startsWith('/') || LOOPBACK.test(host);
    return isHere || tls === 'checked' ? [] : { host, how: RISKS[tls] };
  });
  const byRisk = Map.groupBy(hosts, ({ how }) => how);
  return [...byRisk].map(([how, found]) => [how, found.map(({ host }) => host)]);
};

const checkServer = ({ version, isSupported }: ServerFacts): Finding =>
  isSupported ? ok(version) : wrong(`${version} is too old: the service needs 14 or newer`);

const checkMigrations = async (reading: Reading): Promise<Finding> => {
  const applied = await reading.migrations();
  const unknown = unknownMigration(applied);
  if (unknown) return wrong(`${unknown.by} has migrated this database (${unknown.name}): run that one`);
  const waiting = knownMigrations().filter((name) => !applied.includes(name));
  if (waiting.length > 0)
    return warn(
      `${waiting.length} pending, beginning with ${waiting[0]}: the next start or handback migrate applies them`,
    );
  const problem = await wrongSchema(reading.db, SCHEMA_DIALECTS[reading.engine]);
  return problem ? wrong(problem) : ok(`up to date (${applied.at(-1)})`);
};

const POOLERS: Record<PoolerMode, Finding> = {
  nothing: ok('none: connections go directly to PostgreSQL'),
  sessions: ok('session mode, as far as can be seen'),
  'shared sessions': wrong(
    'transaction mode (DATABASE_URL): notifications and prepared statements get lost; configure session mode',
  ),
};

/** The number of scans for locks. The service waits in slices of less than a second, so a single scan could miss it. */
const LOCK_SCANS = 5;
const LOCK_SCAN_PAUSE_MS = 200;

const checkLocks = async ({ db }: Reading): Promise<Finding> => {
  const found = new Map<number, Blocker>();
  for (let scan = 0; scan < LOCK_SCANS; scan++) {
    for (const blocker of await findBlockers(db)) {
      const known = found.get(blocker.pid);
      if (!known || known.blocks <= blocker.blocks) found.set(blocker.pid, blocker);
    }
    await pause(LOCK_SCAN_PAUSE_MS);
  }
  const all = [...found.values()].sort((one, other) => Number(one.waitsItself) - Number(other.waitsItself));
  const [first] = all;
  if (!first) return ok('no session is waiting for a lock');
  const words = listSome(all.map(asSentence));
  const isBlocking = all.some(({ blocks }) => blocks > 0);
  return isBlocking
    ? wrong(`${words}: end the first session, for example with select pg_terminate_backend(${first.pid})`)
    : warn(`${words}: it may hold locks; end it if it is not in use`);
};

const asSentence = ({ pid, application, state, since, blocks, blocksOwn, waitsItself }: Blocker): string => {
  const known = [printable(application), state, since !== null && `transaction since ${toIso(since)}`];
  const who = pid === 0 ? 'a prepared transaction' : `session ${pid}`;
  const waiting = waitsItself ? 'waits itself, and ' : '';
  const does = blocks > 0 ? ` ${waiting}keeps ${blocks} waiting, ${blocksOwn} of them of Handback` : '';
  return `${who} (${known.filter(Boolean).join(', ')})${does}`;
};

const checkConnections = async ({ db }: Reading, { poolSizes }: Config): Promise<Finding> => {
  const { room, processes } = await connectionRoom(db);
  const most = Math.max(1, processes) * connectionsOf(poolSizes);
  const who = processes > 1 ? `${processes} processes` : 'a process';
  const words = `${who} may open ${most} connections; the server has room for ${room}`;
  return most <= room
    ? ok(words)
    : warn(
        `${words}: raise max_connections on the server by at least ${most - room}, or lower DATABASE_POOLS`,
      );
};

const LITTLE_BYTES = 1e9;
const TOO_LITTLE_BYTES = 1e8;
/** A large creation with its indexes needs more than this. */
const FULL_BYTES = 1e6;

/** Checks the disk only if the data is on this machine, since the disk of a database server is not visible. */
const checkDisk = async (config: Config): Promise<Finding | null> => {
  if (config.databaseUrl || !existsSync(config.dataDir)) return null;
  const { bavail, bsize } = await statfs(config.dataDir);
  const free = bavail * bsize;
  const words = `${(free / 1e9).toFixed(1)} GB free in ${config.dataDir}`;
  if (free < FULL_BYTES) return wrong(`${words}: the disk is full and writes fail; free some space`);
  if (free < TOO_LITTLE_BYTES) return wrong(`${words}: free some space, or writes will soon fail`);
  return free < LITTLE_BYTES ? warn(`${words}: free some space soon`) : ok(words);
};

const checkMail = async ({ mail }: Config): Promise<Finding | null> => {
  if (!mail) return null;
  const { hostname } = new URL(mail.smtpUrl);
  const problem = await checkMailServer(mail);
  return problem
    ? wrong(`${hostname}: ${problem}; handback mail test ADDRESS tries again`)
    : ok(`${hostname} accepts the login; handback mail test ADDRESS sends an email`);
};

const checkProvider = async ({ provider, passwordSignIn }: Config): Promise<Finding | null> => {
  if (!provider) return null;
  try {
    await new IdentityProvider(provider).discover();
    return ok(`${provider.issuer} responds`);
  } catch (error) {
    const isTemporary = error instanceof ProviderRefusal && error.refusal === 'AWAY';
    const code = isTemporary && 'cause' in error.details ? error.details.cause : null;
    const what = isTemporary
      ? `cannot be reached${code ? ` (${code})` : ''}`
      : 'does not identify itself with this issuer';
    const words = `${provider.issuer} ${what}: check OIDC_ISSUER against the issuer in its /.well-known/openid-configuration`;
    return passwordSignIn
      ? warn(`${words}; signing in with a password works`)
      : wrong(`${words}; handback user link EMAIL prints a link that signs in once`);
  }
};
