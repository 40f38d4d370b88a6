import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/lib/config-error.ts';
import { type Config, readConfig } from '../../src/platform/config.ts';
import { UNKNOWN_ID } from '../support/api.ts';
import { runHere } from '../support/commands-here.ts';
import { run, temporaryFolder } from '../support/process.ts';

const KEY = 'k'.repeat(32);
const OTHER_KEY = 'o'.repeat(40);
const POSTGRES = { DATABASE_URL: 'postgres://user:pw@db.example:5432/handback', SECRET_KEY: KEY };

const refusalOf = (env: Record<string, string>): string => {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error(`taken: ${JSON.stringify(env)}`);
};

describe('without any setting', () => {
  it('gives the defaults', () => {
    expect(readConfig({})).toEqual({
      host: '127.0.0.1',
      port: 3000,
      databaseUrl: null,
      poolSizes: { changes: 6, lists: 4, admin: 3, scans: 2, webhooks: 3, reads: 4 },
      dataDir: resolve('./data'),
      dataDirIsSet: false,
      secretKeys: null,
      timeLimitFactor: 1,
      trustProxy: false,
      maxConnectionsPerAddress: 100,
      allowPrivateWebhooks: false,
      role: 'all',
      logLevel: 'info',
      publicUrl: 'http://127.0.0.1:3000',
      publicPath: '',
      publicUrlIsSet: false,
      metricsToken: null,
      provider: null,
      passwordSignIn: true,
      mail: null,
      startedByNpm: false,
      drainMs: 4_000,
      auditMonths: 24,
      backups: null,
      backupRecipients: [],
      databaseWaitMs: 30_000,
    });
  });

  it('accepts the sizes of some pools and keeps the others', () => {
    const { poolSizes } = readConfig({ DATABASE_POOLS: 'lists=8, admin=6' });
    expect(poolSizes).toMatchObject({ lists: 8, admin: 6, changes: 6 });
  });

  it('treats an empty or blank setting as unset', () => {
    const names = [
      ...['HOST', 'PORT', 'DATABASE_URL', 'DATA_DIR', 'SECRET_KEY', 'TRUST_PROXY', 'ROLE', 'LOG_LEVEL'],
      ...[
        'WEBHOOK_ALLOW_PRIVATE_NETWORKS',
        'PUBLIC_URL',
        'METRICS_TOKEN',
        'DRAIN_SECONDS',
        'TIME_LIMIT_FACTOR',
        'DATABASE_POOLS',
      ],
      ...['DATABASE_WAIT_SECONDS', 'MAX_CONNECTIONS_PER_ADDRESS', 'AUDIT_MONTHS'],
    ];
    for (const blank of ['', '  '])
      expect(readConfig(Object.fromEntries(names.map((name) => [name, blank])))).toEqual(readConfig({}));
  });

  it('cannot be changed afterwards', () => {
    expect(Object.isFrozen(readConfig({}))).toBe(true);
  });
});

describe('a valid value', () => {
  const cases: [Record<string, string>, Partial<Config>][] = [
    [{ HOST: '0.0.0.0' }, { host: '0.0.0.0', publicUrl: 'http://0.0.0.0:3000' }],
    [
      { HOST: '::1', PORT: '8080' },
      { host: '::1', publicUrl: 'http://[::1]:8080' },
    ],
    [{ PORT: '8080' }, { port: 8080, publicUrl: 'http://127.0.0.1:8080' }],
    [{ PORT: '65535' }, { port: 65_535 }],
    [{ PORT: ' 8080 ' }, { port: 8080 }],
    [POSTGRES, { databaseUrl: POSTGRES.DATABASE_URL, secretKeys: [KEY] }],
    [{ ...POSTGRES, DATABASE_URL: 'postgresql://db/x' }, { databaseUrl: 'postgresql://db/x' }],
    [{ DATA_DIR: 'somewhere' }, { dataDir: resolve('somewhere') }],
    [{ DATA_DIR: '/var/lib/handback' }, { dataDir: resolve('/var/lib/handback') }],
    [{ SECRET_KEY: KEY }, { secretKeys: [KEY] }],
    [{ SECRET_KEY: `${OTHER_KEY}, ${KEY}` }, { secretKeys: [OTHER_KEY, KEY] }],
    [{ SECRET_KEY: `${OTHER_KEY},\r\n ${KEY}\n` }, { secretKeys: [OTHER_KEY, KEY] }],
    [{ WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' }, { allowPrivateWebhooks: true }],
    [{ WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'false' }, { allowPrivateWebhooks: false }],
    [{ ...POSTGRES, ROLE: 'api' }, { role: 'api' }],
    [{ ...POSTGRES, ROLE: 'worker' }, { role: 'worker' }],
    [{ ROLE: 'all' }, { role: 'all' }],
    [{ LOG_LEVEL: 'debug' }, { logLevel: 'debug' }],
    [{ LOG_LEVEL: 'silent' }, { logLevel: 'silent' }],
    [
      { PUBLIC_URL: 'https://returns.example.com/' },
      { publicUrl: 'https://returns.example.com', publicPath: '', publicUrlIsSet: true },
    ],
    [
      { PUBLIC_URL: 'https://example.com/shop_1/~re.turns-2//' },
      { publicUrl: 'https://example.com/shop_1/~re.turns-2', publicPath: '/shop_1/~re.turns-2' },
    ],
    [{ PUBLIC_URL: 'HTTPS://Returns.Example.com:443' }, { publicUrl: 'https://returns.example.com' }],
    [{ PUBLIC_URL: 'http://[::1]:8080/administration' }, { publicPath: '/administration' }],
    [{}, { publicPath: '' }],
    [{ METRICS_TOKEN: 'f'.repeat(16) }, { metricsToken: 'f'.repeat(16) }],
    [{ DRAIN_SECONDS: '0' }, { drainMs: 0 }],
    [{ TIME_LIMIT_FACTOR: '3' }, { timeLimitFactor: 3 }],
    [{ DATABASE_WAIT_SECONDS: '5' }, { databaseWaitMs: 5_000 }],
    [{ DRAIN_SECONDS: '60' }, { drainMs: 60_000 }],
    [{ AUDIT_MONTHS: '120' }, { auditMonths: 120 }],
    [{ TRUST_PROXY: 'off' }, { trustProxy: false }],
    [{ TRUST_PROXY: 'false' }, { trustProxy: false }],
    [{ TRUST_PROXY: '0' }, { trustProxy: false }],
    [{ TRUST_PROXY: '1' }, { trustProxy: 1 }],
    [{ TRUST_PROXY: '12' }, { trustProxy: 12 }],
    [{ TRUST_PROXY: '192.0.2.1' }, { trustProxy: ['192.0.2.1'] }],
    [
      { TRUST_PROXY: '192.0.2.0/24, 2001:db8::/32,::1' },
      { trustProxy: ['192.0.2.0/24', '2001:db8::/32', '::1'] },
    ],
  ];
  it.each(cases)('%j is accepted', (env, expected) => {
    expect(readConfig(env)).toMatchObject(expected);
  });
});

describe('an invalid value', () => {
  const cases: Record<string, string[]> = {
    PORT: ['http', '-1', '65536', '80.5', '0x50', '1e3'],
    DRAIN_SECONDS: ['61', '1.5', '-1'],
    TIME_LIMIT_FACTOR: ['0', '101', '1.5'],
    DATABASE_WAIT_SECONDS: ['601'],
    AUDIT_MONTHS: ['0', '121', '1.5'],
    MAX_CONNECTIONS_PER_ADDRESS: ['0', '5001'],
    DATABASE_URL: [
      'mysql://user:pw@db/handback',
      'localhost:5432',
      'postgres://db:port/handback',
      'postgres://db/handback?ssl=false',
    ],
    METRICS_TOKEN: ['TOKEN', 't'.repeat(15)],
    SECRET_KEY: ['k'.repeat(31), `${KEY},short`, ',', `${KEY},`, `,${KEY}`, `${OTHER_KEY}, ,${KEY}`],
    DATABASE_POOLS: ['lists', 'lists=0', 'lists=x', 'cats=3', 'lists=8;admin=6', 'lists=8,lists=9'],
    TRUST_PROXY: [
      ...['true', 'yes', '-1', '1.5', '999'],
      ...['192.0.2.1;192.0.2.2', '192.0.2.1,proxy.example', '192.0.2.0/33'],
    ],
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: ['yes', '1', 'TRUE'],
    ROLE: ['both', 'api', 'worker'],
    LOG_LEVEL: ['verbose'],
    HOST: ['999.1.1.1', 'bad host'],
    PUBLIC_URL: [
      ...['returns.example.com', 'ftp://returns.example.com', 'https://', 'https:example.com/returns'],
      ...['https://example.com/?shop=1', 'https://example.com/#returns', 'https://example.com/returns?'],
      ...['/a b', '/a%20b', '/a;b', '/a"b', '/a,b', '/ä', '/../a', '/.a', '/a//b', '//a', '\\a'].map(
        (path) => `https://example.com${path}`,
      ),
      ...['/admin', '/Docs/returns', '/api/v1', '/metrics/'].map((path) => `https://example.com${path}`),
    ],
  };
  it.each(Object.entries(cases).flatMap(([name, values]) => values.map((value) => [name, value] as const)))(
    '%s=%s is refused with one line that names the setting',
    (name, value) => {
      const message = refusalOf({ ...(name === 'DATABASE_URL' ? { SECRET_KEY: KEY } : {}), [name]: value });
      expect(message).toMatch(new RegExp(`^${name} `));
      expect(message).not.toContain('\n');
    },
  );

  it('names SECRET_KEY if DATABASE_URL is set without it', () => {
    expect(refusalOf({ DATABASE_URL: POSTGRES.DATABASE_URL })).toMatch(/^SECRET_KEY .*DATABASE_URL/);
  });

  it('names ROLE if it is not "all" on SQLite', () => {
    expect(refusalOf({ ROLE: 'worker' })).toMatch(/^ROLE must be all/);
  });
});

describe('the process', () => {
  const SECRET = 'hunter2-hunter2';

  it.each<[name: string, env: Record<string, string>]>([
    ['PORT', { PORT: 'http' }],
    ['DATABASE_URL', { DATABASE_URL: `mysql://user:${SECRET}@127.0.0.1/x`, SECRET_KEY: KEY }],
    ['SECRET_KEY', { SECRET_KEY: SECRET }],
    ['SECRET_KEY_FILE', { SECRET_KEY_FILE: `/nowhere/${SECRET}` }],
  ])('exits with status 1 and one line that names %s (%j)', async (name, env) => {
    const { status, stdout, stderr } = await runHere(['serve'], { DATA_DIR: temporaryFolder(), ...env });
    expect(stderr).toMatch(new RegExp(`^handback: ${name} [^\\n]+\\n$`));
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).not.toContain(SECRET);
  });

  it('says the same for a command as for the server', async () => {
    const { status, stdout, stderr } = await runHere(['shop', 'list', '--json'], { LOG_LEVEL: 'loud' });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^handback: LOG_LEVEL [^\n]+\n$/);
  });

  it.each([
    ['an address that this machine does not have', '203.0.113.1'],
    ['not an address', 'bad..host'],
  ])('names HOST if it is %s', async (_what, host) => {
    const { status, stderr } = await run(['serve'], { DATA_DIR: temporaryFolder(), HOST: host, PORT: '0' });
    expect(stderr).toMatch(/^handback: [^\n]*\bHOST\b[^\n]*\n$/);
    expect(stderr).not.toContain('DATABASE_URL');
    expect(status).toBe(1);
  });
});

describe('the identity provider', () => {
  const OIDC = {
    OIDC_ISSUER: 'https://login.example.com/realms/shop',
    OIDC_CLIENT_ID: 'handback',
    OIDC_CLIENT_SECRET: 's3cret-word',
  };
  const NEW_USERS = { OIDC_NEW_USERS: UNKNOWN_ID, OIDC_ALLOWED_DOMAINS: 'Example.com, b.example' };

  it('is unset, or has an issuer and a client', () => {
    expect(readConfig({}).provider).toBeNull();
    expect(readConfig({ ...OIDC, ...NEW_USERS }).provider).toEqual({
      issuer: OIDC.OIDC_ISSUER,
      clientId: 'handback',
      clientSecret: 's3cret-word',
      name: 'single sign-on',
      newUsers: { shopId: UNKNOWN_ID, allowedDomains: ['example.com', 'b.example'] },
    });
    for (const name of Object.keys(OIDC))
      expect(refusalOf({ ...OIDC, [name]: '' })).toMatch(/^OIDC_ISSUER, OIDC_CLIENT_ID and .* together$/);
    for (const name of Object.keys(NEW_USERS))
      expect(refusalOf({ ...OIDC, ...NEW_USERS, [name]: '' })).toMatch(/^OIDC_NEW_USERS and .* together$/);
    expect(refusalOf(NEW_USERS)).toMatch(/^OIDC_ISSUER, /);
  });

  it.each([
    'http://login.example.com',
    'login.example.com',
    'https://a.example?x=1',
    'https://u:p@a.example',
  ])('is not at %s', (OIDC_ISSUER) =>
    expect(refusalOf({ ...OIDC, OIDC_ISSUER })).toMatch(/^OIDC_ISSUER must be the https address/),
  );

  it('may be without TLS on the same machine', () => {
    for (const OIDC_ISSUER of [
      'http://localhost:8080/realms/shop',
      'http://127.0.0.1:8080',
      'http://[::1]:1',
    ])
      expect(readConfig({ ...OIDC, OIDC_ISSUER }).provider?.issuer).toBe(OIDC_ISSUER);
  });

  it('knows shops by their ids, and domains', () => {
    expect(refusalOf({ ...OIDC, ...NEW_USERS, OIDC_NEW_USERS: 'My shop' })).toMatch(
      /^OIDC_NEW_USERS must be the id/,
    );
    for (const OIDC_ALLOWED_DOMAINS of [
      '@example.com',
      'com',
      'a.example b.example',
      '*',
      'b\u00fccher.example',
    ])
      expect(refusalOf({ ...OIDC, ...NEW_USERS, OIDC_ALLOWED_DOMAINS })).toMatch(
        /^OIDC_ALLOWED_DOMAINS must be/,
      );
  });

  it('is required if nobody signs in with a password', () => {
    expect(refusalOf({ PASSWORD_SIGN_IN: 'false' })).toMatch(
      /^PASSWORD_SIGN_IN can be false only with OIDC_ISSUER/,
    );
    expect(readConfig({ ...OIDC, PASSWORD_SIGN_IN: 'false' }).passwordSignIn).toBe(false);
    expect(readConfig(OIDC).passwordSignIn).toBe(true);
  });
});

describe('mail', () => {
  const SMTP_URL = 'smtps://user:s3cret-word@mail.example.com:465';
  it('needs a server and a sender, both or neither', () => {
    expect(readConfig({ SMTP_URL, MAIL_FROM: 'Returns <returns@example.com>' }).mail).toEqual({
      smtpUrl: SMTP_URL,
      from: 'Returns <returns@example.com>',
      requireTls: false,
    });
    expect(refusalOf({ SMTP_URL })).toMatch(/^MAIL_FROM is required/);
    expect(refusalOf({ MAIL_FROM: 'returns@example.com' })).toMatch(/^SMTP_URL is required/);
  });

  it.each([
    ['smtp://mail.example.com:587', undefined, true],
    ['smtp://mail.example.com', 'false', true],
    ['smtp://127.0.0.1.example.com', undefined, true],
    ['smtp://mail.example.com', 'true', false],
    ['smtps://mail.example.com', undefined, false],
    ['smtp://localhost:25', undefined, false],
    ['smtp://127.0.0.1', undefined, false],
    ['smtp://[::1]:2525', undefined, false],
  ])('%s with SMTP_ALLOW_PLAIN %s: STARTTLS is required: %s', (url, SMTP_ALLOW_PLAIN, requireTls) => {
    const env = { SMTP_URL: url, MAIL_FROM: 'a@b.example', SMTP_ALLOW_PLAIN };
    expect(readConfig(env).mail?.requireTls).toBe(requireTls);
  });

  it('says what is wrong without repeating it', () => {
    for (const wrong of ['mail.example.com', 'https://mail.example.com', 'smtp://', 'smtp://a b'])
      expect(refusalOf({ SMTP_URL: wrong, MAIL_FROM: 'returns@example.com' })).toMatch(/^SMTP_URL must be/);
    expect(refusalOf({ SMTP_URL: `x${SMTP_URL}`, MAIL_FROM: 'a@b.example' })).not.toContain('s3cret-word');
    for (const wrong of ['returns', 'Returns <returns>', 'a@b.example, c@d.example', '<a@b.example> x'])
      expect(refusalOf({ SMTP_URL, MAIL_FROM: wrong })).toMatch(/^MAIL_FROM must be/);
  });
});

describe('a secret in a file', () => {
  const fileWith = (content: string): string => {
    const file = join(temporaryFolder(), 'secret');
    writeFileSync(file, content);
    return file;
  };
  const MAIL = { MAIL_FROM: 'returns@example.com' };
  const SMTP_URL = 'smtps://user:pw@mail.example.com';
  const SECRETS: [name: string, value: string, more: Record<string, string>, expected: Partial<Config>][] = [
    ['SECRET_KEY', KEY, {}, { secretKeys: [KEY] }],
    ['DATABASE_URL', POSTGRES.DATABASE_URL, { SECRET_KEY: KEY }, { databaseUrl: POSTGRES.DATABASE_URL }],
    ['METRICS_TOKEN', 'f'.repeat(16), {}, { metricsToken: 'f'.repeat(16) }],
    ['SMTP_URL', SMTP_URL, MAIL, { mail: { smtpUrl: SMTP_URL, from: MAIL.MAIL_FROM, requireTls: false } }],
  ];

  it.each(SECRETS)('%s_FILE is read, without the line end after it', (name, value, more, expected) => {
    for (const content of [value, `${value}\n`, `${value}\r\n`])
      expect(readConfig({ ...more, [`${name}_FILE`]: fileWith(content) })).toMatchObject(expected);
  });

  it.each(SECRETS)('%s_FILE is refused together with %s', (name, value, more) => {
    const message = refusalOf({ ...more, [name]: value, [`${name}_FILE`]: fileWith(value) });
    expect(message).toBe(`${name}_FILE and ${name} are both set: keep one of them`);
  });

  it.each(SECRETS)('%s_FILE is refused if the file is missing, a folder or empty', (name, _value, more) => {
    const refusal = (file: string) => refusalOf({ ...more, [`${name}_FILE`]: file });
    expect(refusal(join(temporaryFolder(), 'absent'))).toBe(`${name}_FILE names a file that cannot be read`);
    expect(refusal(temporaryFolder())).toBe(`${name}_FILE names a file that cannot be read`);
    for (const content of ['', '\n', ' \r\n'])
      expect(refusal(fileWith(content))).toBe(`${name}_FILE names a file that is empty`);
  });

  it('may hold several keys, one on each line', () => {
    const SECRET_KEY_FILE = fileWith(`${OTHER_KEY}\n${KEY}\n`);
    expect(readConfig({ SECRET_KEY_FILE }).secretKeys).toEqual([OTHER_KEY, KEY]);
  });

  it('is validated like the setting itself, and never repeated', () => {
    const message = refusalOf({ SECRET_KEY_FILE: fileWith('hunter2-hunter2') });
    expect(message).toMatch(/^SECRET_KEY must be/);
    expect(message).not.toContain('hunter2');
  });

  it('with a blank name is unset', () => {
    expect(readConfig({ SECRET_KEY_FILE: ' ', SECRET_KEY: KEY }).secretKeys).toEqual([KEY]);
  });
});
