import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import ipaddr from 'ipaddr.js';
import about from '../../package.json' with { type: 'json' };

// Environment → one frozen Config. Nothing else reads process.env.

export const VERSION: string = about.version;

const ROLES = ['all', 'api', 'worker'] as const;
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Connections to PostgreSQL for each kind of work (ADR 0011). */
const POOL_SIZES = { changes: 6, lists: 4, admin: 4, webhooks: 3, reads: 4 } as const;
export type PoolSizes = Readonly<Record<keyof typeof POOL_SIZES, number>>;

export interface MailSettings {
  readonly smtpUrl: string;
  readonly from: string;
  /** Without TLS nothing is sent, neither a mail nor the server's password. */
  readonly requireTls: boolean;
}

export type Config = ReturnType<typeof readConfig>;

/** The message is the one line that the operator sees. */
export class ConfigError extends Error {}

const invalid = (name: string, must: string): ConfigError => new ConfigError(`${name} must ${must}`);

const oneOf =
  <Value extends string>(values: readonly Value[]) =>
  (name: string, value: string): Value => {
    const found = values.find((each) => each === value);
    if (!found) throw invalid(name, `be one of ${values.join(', ')}`);
    return found;
  };

const wholeNumberUpTo =
  (most: number, least = 0) =>
  (name: string, value: string): number => {
    const number = Number(value);
    if (!/^\d{1,9}$/.test(value) || number > most || number < least)
      throw invalid(name, `be a whole number from ${least} to ${most}`);
    return number;
  };

const flag = (name: string, value: string): boolean => oneOf(['true', 'false'])(name, value) === 'true';

const webUrl = (name: string, value: string): string => {
  const url = URL.parse(value);
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw invalid(name, 'be an http or https address, https://returns.example.com for example');
  if (!/^\/*$/.test(url.pathname + url.search + url.hash))
    throw invalid(
      name,
      'not have a path: the service cannot be served below one, give it a host name of its own',
    );
  return value.replace(/\/+$/, '');
};

const PARTS = /^(postgres(?:ql)?:\/\/)([^/?#]*)(.*)$/s;

/** Neither `URL` nor the driver knows a list of hosts. Messages never repeat the address, since it may hold a password. */
export const parseAddress = (text: string, name = 'DATABASE_URL') => {
  const [, scheme = '', authority = '', rest = ''] = PARTS.exec(text) ?? [];
  // A password may hold commas, and an @ that is not encoded.
  const login = authority.slice(0, authority.lastIndexOf('@') + 1);
  const hosts = authority.slice(login.length).split(',');
  const [first, ...others] = hosts.map((host) => `${scheme}${login}${host}${rest}`);
  const isList = others.length > 0;
  const isWhole = hosts.every((host) => host || !isList);
  if (!scheme || !first || !isWhole || ![first, ...others].every((url) => URL.canParse(url)))
    throw invalid(name, 'be a PostgreSQL address, postgres://user:password@host:5432/database for example');
  const { searchParams } = new URL(first);
  // The driver would take these for every host.
  if (isList ? searchParams.has('host') || searchParams.has('port') : searchParams.get('host')?.includes(','))
    throw invalid(name, 'name several hosts before the database: postgres://…@one:5432,two:5432/…');
  const wanted = searchParams.get('target_session_attrs') ?? (isList ? 'read-write' : 'any');
  if (wanted !== 'read-write' && wanted !== 'any')
    throw new ConfigError(`${name} can have target_session_attrs=read-write or any only: Handback writes`);
  const urls: readonly [string, ...string[]] = [first, ...others];
  return { urls, mustTakeWrites: wanted === 'read-write' };
};

const postgresUrl = (name: string, value: string): string => {
  parseAddress(value, name);
  return value;
};

/** `lists=8,admin=6`: what is not named keeps its size. */
const poolSizes = (name: string, value: string): PoolSizes => {
  const given: Record<string, number> = {};
  for (const pair of value.split(',')) {
    const [, kind = '', size = ''] = /^ *(\w+) *= *(\d{1,3}) *$/.exec(pair) ?? [];
    if (!(kind in POOL_SIZES) || Number(size) < 1)
      throw invalid(
        name,
        `be pairs such as lists=8,admin=6; it can name ${Object.keys(POOL_SIZES).join(', ')}`,
      );
    if (kind in given) throw new ConfigError(`${name} names ${kind} more than once`);
    given[kind] = Number(size);
  }
  return { ...POOL_SIZES, ...given };
};

/** The message never repeats the value: it may hold a password. */
const textThat = (isValid: (value: string) => boolean, must: string) => (name: string, value: string) => {
  if (!isValid(value)) throw invalid(name, must);
  return value;
};

const smtpUrl = textThat(
  (value) => /^smtps?:\/\//.test(value) && URL.canParse(value) && new URL(value).hostname !== '',
  'be the address of a mail server, smtps://user:password@mail.example.com for example',
);

const sender = textThat((value) => {
  const address = /^[^<>\r\n]*<([^<>]*)>$/.exec(value)?.[1] ?? value;
  return /^[^\s@<>,;"]+@[^\s@<>,;"]+$/.test(address);
}, 'be an e-mail address, Returns <returns@example.com> for example');

/** Mails hold links that are as good as a password, and the server's own password goes before them. */
export const needsStartTls = (smtpUrl: string): boolean => {
  const { protocol, hostname } = new URL(smtpUrl);
  return protocol === 'smtp:' && !/^(localhost|127(\.\d+){3}|\[::1\])$/i.test(hostname);
};

const mailFrom = (url: string | null, from: string | null, allowPlain: boolean): MailSettings | null => {
  if (url && from)
    return Object.freeze({ smtpUrl: url, from, requireTls: needsStartTls(url) && !allowPlain });
  if (url) throw new ConfigError('MAIL_FROM is required with SMTP_URL: it is who mails come from');
  if (from) throw new ConfigError('SMTP_URL is required with MAIL_FROM: it is the server that sends mails');
  return null;
};

const SECRET_KEY_LENGTH = 32;
/** null: one is too short to be safe, or missing before, after or between commas. */
export const secretKeysIn = (text: string): string[] | null => {
  const keys = text.trim().split(/\s*[,\r\n]\s*/);
  return keys.every(({ length }) => length >= SECRET_KEY_LENGTH) ? keys : null;
};
const secretKeys = (name: string, value: string): string[] => {
  const keys = secretKeysIn(value);
  if (keys) return keys;
  throw invalid(
    name,
    `be a key of at least ${SECRET_KEY_LENGTH} characters, or several separated by commas (openssl rand -hex 32 creates one)`,
  );
};

/** In full only: the short forms some parsers take (`1.5`) would turn a slip of the finger into an address. */
const isAddressOrNetwork = (value: string): boolean =>
  isIP(value) !== 0 || (isIP(value.replace(/\/.*/, '')) !== 0 && ipaddr.isValidCIDR(value));

const proxies = (name: string, value: string): false | number | string[] => {
  if (['off', 'false', '0'].includes(value)) return false;
  if (/^\d{1,2}$/.test(value)) return Number(value);
  const addresses = value.split(',').map((each) => each.trim());
  if (!addresses.every(isAddressOrNetwork))
    throw invalid(name, 'be off, the number of proxies, or their addresses separated by commas');
  return addresses;
};

const text = (_name: string, value: string): string => value;

type ReadSetting = <Value, Fallback>(
  name: string,
  read: (name: string, value: string) => Value,
  fallback: Fallback,
) => Value | Fallback;

/** What a file holds, without the line end that editors add. */
const fileText = (name: string, path: string): string => {
  let held: string;
  try {
    held = readFileSync(path, 'utf8').trim();
  } catch {
    throw new ConfigError(`${name} names a file that cannot be read`);
  }
  if (!held) throw new ConfigError(`${name} names a file that is empty`);
  return held;
};

export const readConfig = (env: NodeJS.ProcessEnv) => {
  const setting: ReadSetting = (name, read, fallback) => {
    const value = env[name]?.trim();
    return value ? read(name, value) : fallback;
  };
  /** A setting that holds a secret may also be in a file, which `NAME_FILE` names. */
  const secret: ReadSetting = (name, read, fallback) => {
    const inFile = `${name}_FILE`;
    const path = setting(inFile, text, null);
    if (path === null) return setting(name, read, fallback);
    if (env[name]?.trim()) throw new ConfigError(`${inFile} and ${name} are both set: keep one of them`);
    return read(name, fileText(inFile, path));
  };

  const host = setting('HOST', text, '127.0.0.1');
  const port = setting('PORT', wholeNumberUpTo(65_535), 3000);
  const ownUrl = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  if (!URL.canParse(ownUrl)) throw new ConfigError('HOST must be a host name or an IP address');
  const databaseUrl = secret('DATABASE_URL', postgresUrl, null);
  const config = {
    host,
    port,
    databaseUrl,
    poolSizes: setting('DATABASE_POOLS', poolSizes, POOL_SIZES),
    /** How long a start waits for a database that cannot be reached yet. */
    databaseWaitMs: setting('DATABASE_WAIT_SECONDS', wholeNumberUpTo(600), 30) * 1000,
    dataDir: resolve(setting('DATA_DIR', text, './data')),
    /** The first one seals, all of them open; null: those in the data folder. */
    secretKeys: secret('SECRET_KEY', secretKeys, null),
    /** Where no proxy is trusted. */
    maxConnectionsPerAddress: setting('MAX_CONNECTIONS_PER_ADDRESS', wholeNumberUpTo(5_000, 1), 100),
    /** How many proxies stand before us, or which addresses they have. */
    trustProxy: setting('TRUST_PROXY', proxies, false),
    allowPrivateWebhooks: setting('WEBHOOK_ALLOW_PRIVATE_NETWORKS', flag, false),
    role: setting('ROLE', oneOf(ROLES), 'all'),
    logLevel: setting('LOG_LEVEL', oneOf(LOG_LEVELS), 'info'),
    publicUrl: setting('PUBLIC_URL', webUrl, ownUrl),
    /** Otherwise it is where we listen, which may not be how callers reach us. */
    publicUrlIsSet: setting('PUBLIC_URL', webUrl, null) !== null,
    /** How long entries of the audit log are kept. */
    auditMonths: setting('AUDIT_MONTHS', wholeNumberUpTo(120, 1), 24),
    metricsToken: secret('METRICS_TOKEN', text, null),
    mail: mailFrom(
      secret('SMTP_URL', smtpUrl, null),
      setting('MAIL_FROM', sender, null),
      setting('SMTP_ALLOW_PLAIN', flag, false),
    ),
    /** By `npm start` or `npx`, whose shell passes no signal on. */
    startedByNpm: ['start', 'npx'].includes(env['npm_lifecycle_event'] ?? ''),
    /** How long a stop by SIGTERM goes on answering while callers move on to other processes. */
    drainMs: setting('DRAIN_SECONDS', wholeNumberUpTo(60), 4) * 1000,
  };
  if (databaseUrl && !config.secretKeys)
    throw new ConfigError(
      'SECRET_KEY is required with DATABASE_URL, the same in every process (openssl rand -hex 32 creates one)',
    );
  if (!databaseUrl && config.role !== 'all')
    throw new ConfigError(`ROLE must be all without DATABASE_URL: SQLite is for one process`);
  return Object.freeze(config);
};
