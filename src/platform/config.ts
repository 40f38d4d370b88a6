import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import ipaddr from 'ipaddr.js';
import { isId } from '../../contract/common.ts';
import about from '../../package.json' with { type: 'json' };
import { parseAddress } from '../db/server-address.ts';
import type { PoolSizes } from '../db/types.ts';
import { ConfigError } from '../lib/config-error.ts';

// Reads the environment into one frozen Config. Nothing else reads process.env.

export const VERSION: string = about.version;

const ROLES = ['all', 'api', 'worker'] as const;
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Connections to PostgreSQL for each kind of work (ADR 0011). */
const POOL_SIZES: PoolSizes = { changes: 6, lists: 4, admin: 3, scans: 2, webhooks: 3, reads: 4 };
const DEFAULT_POOLS = Object.entries(POOL_SIZES)
  .map(([kind, size]) => `${kind}=${size}`)
  .join();

export type Config = ReturnType<typeof readConfig>;
export type MailSettings = NonNullable<Config['mail']>;
export type BackupSchedule = NonNullable<Config['backups']>;
export type ProviderSettings = NonNullable<Config['provider']>;

const invalid = (name: string, must: string): ConfigError => new ConfigError(`${name} must ${must}`);

type Read<Value> = (name: string, value: string) => Value;

/** `read` returns null for an invalid value. The message never contains the value, which may be a password. */
const reader =
  <Value>(must: string, read: (value: string) => Value | null): Read<Value> =>
  (name, value) => {
    const found = read(value);
    if (found === null) throw invalid(name, must);
    return found;
  };

const textMatching = (isValid: (value: string) => boolean, must: string): Read<string> =>
  reader(must, (value) => (isValid(value) ? value : null));

const readList = (isValid: (each: string) => boolean, must: string): Read<string[]> =>
  reader(must, (value) => {
    const all = value.split(',').map((each) => each.trim());
    return all.every(isValid) ? all : null;
  });

const oneOf = <Value extends string>(values: readonly Value[]): Read<Value> =>
  reader(`be one of ${values.join(', ')}`, (value) => values.find((each) => each === value) ?? null);

const wholeNumberUpTo = (most: number, least = 0): Read<number> =>
  reader(`be a whole number from ${least} to ${most}`, (value) => {
    const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
    return number >= least && number <= most ? number : null;
  });

const readFlag: Read<boolean> = (name, value) => oneOf(['true', 'false'])(name, value) === 'true';

/** PUBLIC_URL must not have these paths: we could not tell whether a proxy has removed the path of a request or not. */
const OWN_PATH = /^\/(admin|api|docs|healthz|llms\.txt|metrics|readyz)(?=\/|$)/i;
/** The path has plain characters, since it is part of cookies, of pages and of every address that callers see. */
const PLAIN_URL = /^[a-z]+:\/\/[^/?#\\]+((\/[\w~-][\w.~-]*)*)\/*$/i;

const webUrl = (name: string, value: string): string => {
  const url = URL.parse(value);
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw invalid(name, 'be an http or https address, https://returns.example.com for example');
  if (!PLAIN_URL.test(value))
    throw invalid(
      name,
      'have a path of letters, digits, - . _ and ~ only, or none: https://example.com/returns for example',
    );
  const [own] = OWN_PATH.exec(url.pathname) ?? [];
  if (own) throw invalid(name, `have another path: the service has a ${own} of its own`);
  return url.href.replace(/\/+$/, '');
};

const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];
const SSL_VALUES = [null, 'true', '1', '0', 'no-verify'];

const postgresUrl = (name: string, value: string): string => {
  const { searchParams } = new URL(parseAddress(value, name).urls[0]);
  const mode = searchParams.get('sslmode') ?? 'disable';
  if (!SSL_MODES.includes(mode))
    throw new ConfigError(`${name} can have an sslmode of ${SSL_MODES.join(', ')} only`);
  // The driver interprets any other word, even `false`, as TLS, and fails when it connects.
  if (!SSL_VALUES.includes(searchParams.get('ssl')))
    throw new ConfigError(`${name} can have an sslmode of ${SSL_MODES.join(', ')} instead of ssl`);
  for (const option of ['sslrootcert', 'sslcert', 'sslkey'])
    if (searchParams.has(option)) fileText(`${option} in ${name}`, searchParams.get(option) ?? '');
  return value;
};

/** Parses `lists=8,admin=6`, for example. Other pools keep their size. */
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

const smtpUrl = textMatching(
  (value) => /^smtps?:\/\//.test(value) && URL.canParse(value) && new URL(value).hostname !== '',
  'be the address of a mail server, smtps://user:password@mail.example.com for example',
);

const sender = textMatching((value) => {
  const address = /^[^<>\r\n]*<([^<>]*)>$/.exec(value)?.[1] ?? value;
  return /^[^\s@<>,;"]+@[^\s@<>,;"]+$/.test(address);
}, 'be an email address, Returns <returns@example.com> for example');

const LOOPBACK_HOST = /^(localhost|127(\.\d+){3}|\[::1\])$/i;

/** Mails contain links that are as good as a password, and the password of the mail server is sent before them. */
export const needsStartTls = (smtpUrl: string): boolean => {
  const { protocol, hostname } = new URL(smtpUrl);
  return protocol === 'smtp:' && !LOOPBACK_HOST.test(hostname);
};

/** With `requireTls` neither a mail nor the server's password is sent without TLS. */
const mailFrom = (smtpUrl: string | null, from: string | null, allowPlain: boolean) => {
  if (smtpUrl && from)
    return Object.freeze({ smtpUrl, from, requireTls: needsStartTls(smtpUrl) && !allowPlain });
  if (smtpUrl) throw new ConfigError('MAIL_FROM is required with SMTP_URL: it is who mails come from');
  if (from) throw new ConfigError('SMTP_URL is required with MAIL_FROM: it is the server that sends mails');
  return null;
};

const issuerUrl = textMatching((value) => {
  const url = URL.parse(value);
  if (!url || url.search || url.hash || url.username) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK_HOST.test(url.hostname));
}, 'be the https address of an identity provider, as its own discovery document has it');

const shopId = textMatching(isId, 'be the id of a shop (handback shop list)');

const domains = readList(
  (domain) => /^[a-z\d-]+(\.[a-z\d-]+)+$/i.test(domain),
  'be domains separated by commas, example.com for example (xn--… where they have other letters)',
);

const providerFrom = (setting: ReadSetting, secret: ReadSetting) => {
  const issuer = setting('OIDC_ISSUER', issuerUrl, null);
  const clientId = setting('OIDC_CLIENT_ID', readText, null);
  const clientSecret = secret('OIDC_CLIENT_SECRET', readText, null);
  const name = setting('OIDC_NAME', readText, 'single sign-on');
  const newUsersIn = setting('OIDC_NEW_USERS', shopId, null);
  const allowedDomains = setting('OIDC_ALLOWED_DOMAINS', domains, null)?.map((each) => each.toLowerCase());
  if (!issuer && !clientId && !clientSecret && !newUsersIn && !allowedDomains) return null;
  if (!issuer || !clientId || !clientSecret)
    throw new ConfigError('OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET are required together');
  if (!newUsersIn !== !allowedDomains)
    throw new ConfigError('OIDC_NEW_USERS and OIDC_ALLOWED_DOMAINS are required together');
  const newUsers = newUsersIn && allowedDomains ? { shopId: newUsersIn, allowedDomains } : null;
  return Object.freeze({ issuer, clientId, clientSecret, name, newUsers });
};

/** Reads a time of day as milliseconds since midnight. */
const timeOfDay = reader('be a time of day in UTC, 02:30 for example', (value) => {
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(value) ?? [];
  return hours ? (Number(hours) * 60 + Number(minutes)) * 60_000 : null;
});

/** Only the form is checked here; the start of a service checks the keys. */
export const recipients = readList(
  (each) => /^age1[0-9a-z]+$/.test(each),
  'be an age recipient (age1…; age-keygen prints one), or several separated by commas',
);

const backupsFrom = (dailyAtMs: number | null, folder: string | null, keep: number) => {
  if (dailyAtMs !== null && folder) return Object.freeze({ dailyAtMs, folder: resolve(folder), keep });
  if (folder) throw new ConfigError('BACKUP_DAILY_AT is required with BACKUP_DIR: 02:30 for example, in UTC');
  if (dailyAtMs !== null)
    throw new ConfigError('BACKUP_DIR is required with BACKUP_DAILY_AT: it is the folder for the backups');
  return null;
};

const SECRET_KEY_LENGTH = 32;
/** Returns null if a key is too short to be safe, or empty. */
export const secretKeysIn = (text: string): string[] | null => {
  const keys = text.trim().split(/\s*[,\r\n]\s*/);
  return keys.every(({ length }) => length >= SECRET_KEY_LENGTH) ? keys : null;
};
const secretKeys = reader(
  `be a key of at least ${SECRET_KEY_LENGTH} characters, or several separated by commas (openssl rand -hex 32 creates one)`,
  secretKeysIn,
);

/** Requires the full form: with the short forms of some parsers (`1.5`) a typing error would be an address. */
const isAddressOrNetwork = (value: string): boolean =>
  isIP(value) !== 0 || (isIP(value.replace(/\/.*/, '')) !== 0 && ipaddr.isValidCIDR(value));

const proxyAddresses = readList(
  isAddressOrNetwork,
  'be off, the number of proxies, or their addresses separated by commas',
);
const proxies: Read<false | number | string[]> = (name, value) => {
  if (['off', 'false', '0'].includes(value)) return false;
  return /^\d{1,2}$/.test(value) ? Number(value) : proxyAddresses(name, value);
};

const readText: Read<string> = (_name, value) => value;

const TOKEN_LENGTH = 16;
const readToken = textMatching(
  ({ length }) => length >= TOKEN_LENGTH,
  `have at least ${TOKEN_LENGTH} characters (openssl rand -hex 32 creates one)`,
);

type ReadSetting = <Value, Fallback>(name: string, read: Read<Value>, fallback: Fallback) => Value | Fallback;

/** The content of a file without the line end that editors add. */
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

/** A setting in force, for `status`; secrets have no value. */
export type SettingInForce = { name: string; value: unknown; from: 'environment' | 'file' | 'default' };
type Note = (setting: SettingInForce) => void;

/** A secret may also be in a file, whose path is in `NAME_FILE`. */
const settingsIn = (env: NodeJS.ProcessEnv, note: Note) => {
  const given = (name: string): string | undefined => env[name]?.trim() || undefined;
  const reader =
    (isSecret: boolean): ReadSetting =>
    (name, read, fallback) => {
      const inFile = `${name}_FILE`;
      const [path, value] = [isSecret ? given(inFile) : undefined, given(name)];
      if (path && value) throw new ConfigError(`${inFile} and ${name} are both set: keep one of them`);
      const held = path ? fileText(inFile, path) : value;
      if (!held) {
        note({ name, value: fallback, from: 'default' });
        return fallback;
      }
      note({ name, value: isSecret ? '(hidden)' : held, from: path ? 'file' : 'environment' });
      return read(name, held);
    };
  const isSet = (name: string): boolean => given(name) !== undefined;
  return { setting: reader(false), secret: reader(true), isSet };
};

type Contradicting = Pick<Config, 'databaseUrl' | 'secretKeys' | 'role' | 'passwordSignIn' | 'provider'>;
const refuseContradictions = ({
  databaseUrl,
  secretKeys,
  role,
  passwordSignIn,
  provider,
}: Contradicting): void => {
  if (databaseUrl && !secretKeys)
    throw new ConfigError(
      'SECRET_KEY is required with DATABASE_URL, the same in every process (openssl rand -hex 32 creates one)',
    );
  if (!databaseUrl && role !== 'all')
    throw new ConfigError(`ROLE must be all without DATABASE_URL: SQLite is for one process`);
  if (!passwordSignIn && !provider)
    throw new ConfigError('PASSWORD_SIGN_IN can be false only with OIDC_ISSUER: no one could sign in');
};

export const readConfig = (env: NodeJS.ProcessEnv, note: Note = () => {}) => {
  const { setting, secret, isSet } = settingsIn(env, note);
  const host = setting('HOST', readText, '127.0.0.1');
  const port = setting('PORT', wholeNumberUpTo(65_535), 3000);
  const ownUrl = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  if (!URL.canParse(ownUrl)) throw new ConfigError('HOST must be a host name or an IP address');
  const databaseUrl = secret('DATABASE_URL', postgresUrl, null);
  const config = {
    host,
    port,
    databaseUrl,
    poolSizes: poolSizes('DATABASE_POOLS', setting('DATABASE_POOLS', readText, DEFAULT_POOLS)),
    /** A start waits this long for a database that cannot be reached yet. */
    databaseWaitMs: setting('DATABASE_WAIT_SECONDS', wholeNumberUpTo(600), 30) * 1000,
    dataDir: resolve(setting('DATA_DIR', readText, './data')),
    dataDirIsSet: isSet('DATA_DIR'),
    /** The first one seals, all of them open. Null means those in the data folder. */
    secretKeys: secret('SECRET_KEY', secretKeys, null),
    /** It applies if no proxy is trusted. */
    maxConnectionsPerAddress: setting('MAX_CONNECTIONS_PER_ADDRESS', wholeNumberUpTo(5_000, 1), 100),
    trustProxy: setting('TRUST_PROXY', proxies, false),
    allowPrivateWebhooks: setting('WEBHOOK_ALLOW_PRIVATE_NETWORKS', readFlag, false),
    role: setting('ROLE', oneOf(ROLES), 'all'),
    /** Stretches the limits within which the service responds or gives up (`lib/time-limits.ts`). */
    timeLimitFactor: setting('TIME_LIMIT_FACTOR', wholeNumberUpTo(100, 1), 1),
    logLevel: setting('LOG_LEVEL', oneOf(LOG_LEVELS), 'info'),
    publicUrl: setting('PUBLIC_URL', webUrl, ownUrl),
    /** If it is not set, it is the address we listen on, which callers may not be able to reach. */
    publicUrlIsSet: isSet('PUBLIC_URL'),
    auditMonths: setting('AUDIT_MONTHS', wholeNumberUpTo(120, 1), 24),
    metricsToken: secret('METRICS_TOKEN', readToken, null),
    mail: mailFrom(
      secret('SMTP_URL', smtpUrl, null),
      setting('MAIL_FROM', sender, null),
      setting('SMTP_ALLOW_PLAIN', readFlag, false),
    ),
    provider: providerFrom(setting, secret),
    /** If false, people sign in through the identity provider only, or once with a link of the command line. */
    passwordSignIn: setting('PASSWORD_SIGN_IN', readFlag, true),
    backups: backupsFrom(
      setting('BACKUP_DAILY_AT', timeOfDay, null),
      setting('BACKUP_DIR', readText, null),
      setting('BACKUP_KEEP', wholeNumberUpTo(10_000, 1), 14),
    ),
    /** The age keys that backups are encrypted to. Without keys they are not encrypted. */
    backupRecipients: setting('BACKUP_RECIPIENT', recipients, []),
    /** Whether `npm start` or `npx` started the process: their shell does not forward signals. */
    startedByNpm: ['start', 'npx'].includes(env['npm_lifecycle_event'] ?? ''),
    /** After SIGTERM the service responds this long, while callers move to other processes. */
    drainMs: setting('DRAIN_SECONDS', wholeNumberUpTo(60), 4) * 1000,
  };
  refuseContradictions(config);
  /**
   * The path of PUBLIC_URL, like `/returns`, or empty. It never comes from a request, since a caller could then redirect links and
   * cookies.
   */
  const publicPath = new URL(config.publicUrl).pathname.replace(/\/$/, '');
  return Object.freeze({ ...config, publicPath });
};
