import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ISO, UNKNOWN_ID, UUID7 } from '../support/api.ts';
import { failing } from '../support/backups.ts';
import { cliHere, runHere } from '../support/commands-here.ts';
import {
  cli as cliAsProcess,
  lookInto,
  migratedDatabase,
  run,
  startServer,
  temporaryFolder,
} from '../support/process.ts';
import { mailServer } from '../support/smtp.ts';

const URL = 'https://hooks.example.com/handback';
const API_KEY = expect.stringMatching(/^handback_ext_[0-9a-f]{48}$/);
const WEBHOOK_SECRET = expect.stringMatching(/^whsec_[0-9a-f]{48}$/);
const NEW_ID = expect.stringMatching(UUID7);
const SOME_TIME = expect.stringMatching(ISO);

/** A database, and commands on it: what they printed, or the line with which they failed. */
const setUp = async (settings: Record<string, string> = {}) => {
  const env = { ...(await migratedDatabase()), ...settings };
  const cli = (...args: string[]) => cliHere(args, env);
  const fails = (...args: string[]) => failing(args, env);
  return { env, cli, fails };
};
const withShop = async (settings: Record<string, string> = {}) => {
  const at = await setUp(settings);
  const { id: shop, createdAt } = await at.cli('shop', 'create', '--name', 'Shop', '--allowance', '5');
  const createUser = (email: string, ...more: string[]) => [
    ...['user', 'create', '--shop', shop, '--email', email],
    ...more,
  ];
  const createClient = (...more: string[]) => ['client', 'create', '--shop', shop, '--name', 'Till', ...more];
  return { ...at, shop, createdAt, createUser, createClient };
};

describe('a command', () => {
  it('does its work, prints one line and exits', async () => {
    const env = await migratedDatabase();
    const done = (...args: string[]) => cliAsProcess(args, env);
    expect(await done('migrate')).toEqual({ migrated: true });
    const { id: shop } = await done('shop', 'create', '--name', 'Shop');
    expect(await done('shop', 'list')).toHaveLength(1);
    const of = ['--shop', shop];
    const staff = ['user', 'create', ...of, '--email', 'bo@example.com', '--role', 'STAFF'];
    expect(await cliAsProcess(staff, env, 'battery staple\n')).toMatchObject({ email: 'bo@example.com' });
    const email = 'ada@example.com';
    expect(await done('user', 'invite', ...of, '--email', email, '--role', 'ADMIN')).toMatchObject({ email });
    const { id: old } = await done('client', 'create', ...of, '--name', 'Till');
    expect(await done('client', 'replace', old)).toMatchObject({ apiKey: API_KEY });
    expect(await done('demo')).toMatchObject({ apiKey: API_KEY });
  });

  it('exits with status 1 if something cannot be done', async () => {
    const env = await migratedDatabase();
    for (const args of [
      ['shop', 'dangerous', UNKNOWN_ID],
      ['user', 'link', 'ada@example.com'],
    ])
      expect(await failing(args, env, run)).toContain(args.at(-1));
  });
});

it.each([
  ['shop', 'update', UNKNOWN_ID, '--plan', 'SCALE'],
  ['shop', 'update', 'not-an-id', '--plan', 'SCALE'],
  ['shop', 'dangerous', UNKNOWN_ID],
  ['client', 'create', '--shop', UNKNOWN_ID, '--name', 'Till'],
  `user create --shop ${UNKNOWN_ID} --email a@b.example --role STAFF --password long-enough`.split(' '),
  ['client', 'list', '--shop', UNKNOWN_ID],
  ['client', 'revoke', UNKNOWN_ID],
  ['client', 'replace', UNKNOWN_ID],
  ['client', 'update', UNKNOWN_ID, '--name', 'Till'],
  ['client', 'revoke', "'; drop table shops; --"],
  ['user', 'link', 'bo@example.com'],
  ['user', 'reset-factor', 'bo@example.com'],
])('the error names what does not exist: %s %s', async (...args) => {
  const { fails } = await setUp();
  const named = args.find((part) => /019a8c1e|not-an-id|drop table|@/.test(part));
  expect(await fails(...args)).toContain(named);
});

describe('shops', () => {
  it.each<[args: string[], billing: object]>([
    [[], { plan: 'SCALE', billing: 'ALLOWANCE', allowance: 2000, usageCap: null }],
    [['--plan', 'ENTERPRISE'], { plan: 'ENTERPRISE', billing: 'USAGE', allowance: null, usageCap: null }],
    [['--plan', 'ENTERPRISE', '--allowance', '7'], { billing: 'ALLOWANCE', allowance: 7, usageCap: null }],
    [['--usage-cap', '9'], { plan: 'SCALE', billing: 'USAGE', allowance: null, usageCap: 9 }],
  ])('are created with %j and the usual billing of the plan', async (args, billing) => {
    const { cli } = await setUp();
    const created = await cli('shop', 'create', '--name', '  Corner shop  ', ...args);
    const common = { id: NEW_ID, name: 'Corner shop', subscription: 'active', createdAt: SOME_TIME };
    expect(created).toEqual({ plan: expect.any(String), ...common, ...billing });
    expect(await cli('shop', 'list')).toEqual([created]);
  });

  it('are changed one field at a time, without affecting the rest', async () => {
    const { cli, shop: id, createdAt } = await withShop();
    const shop = { id, name: 'Shop', createdAt, plan: 'SCALE', subscription: 'active' };
    let expected: object = { ...shop, billing: 'ALLOWANCE', allowance: 5, usageCap: null };
    const changes: [args: string[], change: object][] = [
      [['--plan', 'GROWTH'], { plan: 'GROWTH' }],
      [['--subscription', 'inactive'], { subscription: 'inactive' }],
      [
        ['--subscription', 'active', '--plan', 'SCALE', '--allowance', '6'],
        { subscription: 'active', plan: 'SCALE', allowance: 6 },
      ],
      [['--allowance', 'none'], { allowance: null }],
      [['--usage-cap', '8'], { billing: 'USAGE', usageCap: 8 }],
      [['--usage-cap', 'none'], { usageCap: null }],
    ];
    for (const [args, change] of changes) {
      expected = { ...expected, ...change };
      expect(await cli('shop', 'update', id, ...args)).toEqual(expected);
    }
  });

  it('accept dangerous-goods rules, all of them or none', async () => {
    const { cli, fails, shop: shopId } = await withShop();
    const rules = (...options: string[]) => cli('shop', 'dangerous', shopId, ...options);
    expect(await rules()).toEqual({ shopId, rules: [] });
    expect(await rules('--add', 'BATT-*', '--add', 'GAS-1', '--add', 'GAS-1')).toEqual({
      shopId,
      rules: ['BATT-*', 'GAS-1'],
    });
    expect(await rules('--remove', 'BATT-*')).toEqual({ shopId, rules: ['GAS-1'] });
    expect(await fails('shop', 'dangerous', shopId, '--remove', 'BATT-*', '--add', 'X')).toContain('BATT-*');
    expect(await rules()).toEqual({ shopId, rules: ['GAS-1'] });
  });
});

describe('users', () => {
  it('are created with a generated password, or one from standard input', async () => {
    const { env, cli, createUser } = await withShop();
    const given = await cli(
      ...createUser('Ada@Example.com', '--role', 'ADMIN', '--password', 'correct horse'),
    );
    expect(given).toEqual({ id: NEW_ID, email: 'ada@example.com', role: 'ADMIN' });
    const args = createUser('bo@example.com', '--role', 'STAFF', '--name', 'Bo Lindqvist');
    const piped = await cliHere(args, env, 'battery staple\n');
    expect(piped).toEqual({ id: NEW_ID, email: 'bo@example.com', role: 'STAFF' });
    const users = await lookInto(env).selectFrom('users').select(['id', 'name']).execute();
    expect(users).toContainEqual({ id: piped.id, name: 'Bo Lindqvist' });
  });

  it('are refused with an email that is in use, also in another case or another shop', async () => {
    const { cli, fails, createUser, shop } = await withShop();
    const { id: other } = await cli('shop', 'create', '--name', 'Other');
    const more = ['--role', 'STAFF', '--password', 'correct horse'];
    await cli(...createUser('ada@example.com', ...more));
    const again = createUser('ADA@example.com', ...more).map((part) => (part === shop ? other : part));
    expect(await fails(...again)).toContain('e-mail');
  });

  it('are refused with a password that is too short, too long or missing, which is never echoed', async () => {
    const { env, fails, createUser } = await withShop();
    const args = createUser('ada@example.com', '--role', 'STAFF');
    for (const password of ['short7!', 'x'.repeat(201)]) {
      const line = await fails(...args, '--password', password);
      expect(line).toContain('password');
      expect(line).not.toContain(password);
    }
    for (const input of ['short7!\n', '']) {
      const { status, stderr } = await runHere(args, env, { input });
      expect([status, stderr]).toEqual([1, expect.stringMatching(/^handback: [^\n]*password[^\n]*\n$/)]);
    }
  });

  it('can be invited with a link, get a new one, and lose their second factor', async () => {
    const { cli, fails, shop } = await withShop({ PUBLIC_URL: 'https://returns.example.com' });
    const args = ['user', 'invite', '--shop', shop, '--email', 'Ada@Example.com', '--role', 'ADMIN'];
    const link = expect.stringMatching(/^https:\/\/returns\.example\.com\/admin\/link#[0-9a-f]{64}$/);
    const shown = { email: 'ada@example.com', link, linkExpiresAt: SOME_TIME, mailed: false };
    const invited = await cli(...args);
    const { id } = invited;
    expect(invited).toEqual({ id, role: 'ADMIN', ...shown });
    const again = await cli('user', 'link', 'ADA@example.com');
    expect(again).toEqual({ id, ...shown });
    expect(again.link).not.toBe(invited.link);
    const reset = await cli('user', 'reset-factor', 'ada@example.com');
    expect(reset).toEqual({ id, email: 'ada@example.com', secondFactor: false });
    expect(await fails(...args)).toContain('e-mail');
  });
});

describe('a mail that cannot be sent', () => {
  it('is explained, without the password of the mail server', async () => {
    const mails = await mailServer({ password: 'the right one' });
    const SMTP_URL = mails.env.SMTP_URL.replace('//', '//returns:the-wrong-one@');
    const { env, shop } = await withShop({ ...mails.env, SMTP_URL });
    const args = ['user', 'invite', '--shop', shop, '--email', 'ada@example.com', '--role', 'STAFF'];
    const { status, json, stderr } = await runHere([...args, '--json'], env);
    expect({ status, json }).toMatchObject({ status: 0, json: { mailed: false } });
    expect(stderr).toMatch(/^handback: a mail could not be sent[^\n]*user and password in SMTP_URL\n$/);
    expect(stderr).not.toMatch(/wrong-one|ada@/);
  });
});

describe('mail test', () => {
  it('sends one mail or says why it cannot, and needs no database', async () => {
    const mails = await mailServer({ password: 'right' });
    const env = { ...mails.env, DATA_DIR: join(temporaryFolder(), 'none') };
    const url = (password: string) => mails.env.SMTP_URL.replace('//', `//me:${password}@`);
    expect(await cliHere(['mail', 'test', 'ada@example.com'], { ...env, SMTP_URL: url('right') })).toEqual({
      sent: true,
      to: 'ada@example.com',
      from: mails.env.MAIL_FROM,
    });
    expect(mails.received).toMatchObject([
      { to: ['ada@example.com'], text: expect.stringContaining('Test mail') },
    ]);
    const refused = await failing(['mail', 'test', 'ada@example.com'], {
      ...env,
      SMTP_URL: url('wrong-one'),
    });
    expect(refused).toMatch(/the mail was not sent: .* user and password in SMTP_URL \[EAUTH 535\]/);
    expect(refused).not.toContain('wrong-one');
    const none = { DATA_DIR: env.DATA_DIR };
    expect(await failing(['mail', 'test', 'ada@example.com'], none)).toMatch(
      /no mail server is set up: SMTP_URL/,
    );
    expect(await run(['mail', 'test', 'ada'], env)).toMatchObject({ status: 2, stdout: '' });
    expect(existsSync(env.DATA_DIR)).toBe(false);
  });
});

describe('with the default settings', () => {
  it('only migrate creates a database in the data folder', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'data'));
    const here = (...args: string[]) => run(args, {}, { shell: `cd ${folder}` });
    for (const args of [
      ['shop', 'list'],
      ['user', 'link', 'a@example.com'],
      ['doctor'],
      ['status'],
      ['demo'],
    ]) {
      const { status, stdout, stderr } = await here(...args);
      expect([status, stdout + stderr]).toEqual([1, expect.stringMatching(/\bdata\b/)]);
    }
    expect(readdirSync(folder, { recursive: true })).toEqual(['data']);
    expect((await here('migrate')).status).toBe(0);
    expect(await here('shop', 'list')).toMatchObject({ status: 0, stdout: '(none)\n' });
    const demo = await here('demo', '--json');
    expect(demo.json).toMatchObject({ database: expect.stringMatching(/data\/handback\.sqlite$/) });
  });
});

describe('clients', () => {
  it('can be created, listed, changed and revoked; the key and the secret are shown once', async () => {
    const { cli, fails, createClient, shop } = await withShop();
    const created = await cli(...createClient('--webhook-url', URL));
    const { id } = created;
    const secrets = { apiKey: API_KEY, webhookSecret: WEBHOOK_SECRET };
    expect(created).toEqual({ id: NEW_ID, name: 'Till', webhookUrl: URL, ...secrets });
    const history = { lastUsedAt: null, revokedAt: null, replacedBy: null, createdAt: SOME_TIME };
    const settings = { rights: ['write'], expiresAt: null, keyStatus: 'ACTIVE' };
    const shown = { id, name: 'Till', webhookUrl: URL, ...settings, ...history };
    expect(await cli('client', 'list', '--shop', shop)).toEqual([shown]);
    const update = (...options: string[]) => cli('client', 'update', id, ...options);
    expect(await update()).toEqual(shown);
    expect(await update('--name', 'Desk')).toEqual({ ...shown, name: 'Desk' });
    // Ids compare without case.
    expect(await cli('client', 'update', id.toUpperCase())).toEqual({ ...shown, name: 'Desk' });
    expect(await cli('client', 'list', '--shop', shop.toUpperCase())).toHaveLength(1);
    const changed = { ...shown, name: 'Desk', webhookUrl: null };
    expect(await update('--webhook-url', 'none')).toEqual(changed);
    const revoked = await cli('client', 'revoke', id);
    expect(revoked).toEqual({ ...changed, keyStatus: 'REVOKED', revokedAt: SOME_TIME });
    expect(await cli('client', 'revoke', id)).toEqual(revoked);
    expect(await fails('client', 'update', id, '--name', 'Back')).toContain('is revoked');
    expect(await cli(...createClient())).toMatchObject({ name: 'Till', webhookUrl: null });
  });

  it('can be replaced: the new one has the name and URL of the old one, or the given ones', async () => {
    const { cli, fails, createClient, shop } = await withShop();
    const first = await cli(...createClient('--webhook-url', URL));
    const second = await cli('client', 'replace', first.id);
    const secrets = { apiKey: API_KEY, webhookSecret: WEBHOOK_SECRET };
    expect(second).toEqual({ id: NEW_ID, name: 'Till', webhookUrl: URL, ...secrets });
    expect(second.apiKey).not.toBe(first.apiKey);
    expect(await fails('client', 'replace', first.id)).toContain(second.id);
    const inside = ['--webhook-url', 'https://10.0.0.1/x'];
    expect(await fails('client', 'replace', second.id, ...inside)).toContain('webhook URL');
    const other = ['--name', 'Desk', '--webhook-url', 'none'];
    const third = await cli('client', 'replace', second.id, ...other);
    expect(third).toMatchObject({ name: 'Desk', webhookUrl: null });
    expect(await cli('client', 'list', '--shop', shop)).toMatchObject([
      { id: first.id, revokedAt: SOME_TIME, replacedBy: third.id },
      { id: second.id, revokedAt: SOME_TIME, replacedBy: third.id },
      { id: third.id, revokedAt: null, replacedBy: null },
    ]);
  });

  it('have rights and an expiry, and an old key can work beside the new one', async () => {
    const { env, cli, fails, createClient, shop } = await withShop();
    const now = Date.now();
    const day = (ahead: number) => new Date(now + ahead * 86_400_000).toISOString().slice(0, 10);
    const endOf = (ahead: number) => `${day(ahead + 1)}T00:00:00.000Z`;
    const { id } = await cli(...createClient('--rights', 'write,move-trade-returns', '--expires', day(40)));
    const [created] = await cli('client', 'list', '--shop', shop);
    const both = ['write', 'move-trade-returns'];
    expect(created).toMatchObject({ rights: both, expiresAt: endOf(40), keyStatus: 'ACTIVE' });
    const update = (...options: string[]) => cli('client', 'update', id, ...options);
    expect(await update('--expires', day(3))).toMatchObject({ rights: both, keyStatus: 'EXPIRES_SOON' });
    expect(await update('--rights', 'read', '--expires', 'none')).toMatchObject({
      rights: [],
      expiresAt: null,
    });
    const next = await cli('client', 'replace', id, '--old-key-until', day(7));
    expect(await cli('client', 'list', '--shop', shop)).toMatchObject([
      { id, expiresAt: endOf(7), revokedAt: null, replacedBy: next.id },
      { id: next.id, rights: [], expiresAt: null },
    ]);
    expect(await fails(...createClient('--expires', '2020-01-31'))).toContain('must be in the future');
    expect(await fails('client', 'replace', next.id, '--old-key-until', day(31))).toContain(
      '30 days at most',
    );
    expect((await cli('client', 'update', next.id, '--rights', 'write')).rights).toEqual(['write']);
    expect((await cli('client', 'update', next.id, '--rights', 'none')).rights).toEqual([]);
    for (const wrong of [
      ['--rights', ''],
      ['--rights', 'all'],
      ['--expires', '2027-02-30'],
      ['--expires', 'soon'],
    ])
      expect((await runHere(['client', 'update', next.id, ...wrong], env)).status).toBe(2);
  });

  it('refuse a webhook URL that leads into a private network, unless the operator allows it', async () => {
    const { env, cli, fails, createClient, shop } = await withShop();
    const SETTING = 'WEBHOOK_ALLOW_PRIVATE_NETWORKS=true';
    // A command has an environment of its own: it names the setting where that would let the URL pass.
    for (const url of ['https://127.0.0.1/x', 'http://127.0.0.1:4110/', 'http://hooks.example.com/x'])
      expect(await fails(...createClient('--webhook-url', url))).toMatch(
        new RegExp(`webhook URL.*${SETTING}|${SETTING}.*webhook URL`),
      );
    for (const url of ['nowhere', 'http://ada:pw@127.0.0.1/x']) {
      const line = await fails(...createClient('--webhook-url', url));
      expect(line).toContain('webhook URL');
      expect(line).not.toContain(SETTING);
    }
    const allowed = { ...env, WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' };
    const { id } = await cliHere(createClient('--webhook-url', 'http://127.0.0.1:9/x'), allowed);
    const update = ['client', 'update', id, '--webhook-url', 'https://10.0.0.1/x'];
    expect(await fails(...update)).toContain('webhook URL');
    expect(await cli('client', 'list', '--shop', shop)).toHaveLength(1);
  });
});

describe('demo', () => {
  it('prints the address of the service, even if the command has other settings', async () => {
    const { env, cli } = await setUp();
    const server = await startServer(env);
    const own = await cli('demo');
    expect(own.admin).toBe(`${server.url}/admin`);
    expect(own.try).toContain(`'${server.url}/api/`);
  });

  it('creates a shop with sample data, and prints a key that works', async () => {
    const { env, cli } = await setUp({ PUBLIC_URL: 'https://returns.example.com' });
    const shown = await cli('demo');
    expect(shown).toMatchObject({
      shopId: NEW_ID,
      admin: 'https://returns.example.com/admin',
      email: expect.stringContaining('@'),
      password: expect.stringMatching(/^\S{8,}$/),
      apiKey: API_KEY,
      try: expect.stringContaining('https://returns.example.com/api/v1/external/v1/offline-repairs'),
    });
    const server = await startServer(env, { key: shown.apiKey });
    const repairs = (await server.get('/offline-repairs?limit=100')).body.items;
    expect(repairs.length).toBeGreaterThanOrEqual(10);
    const statuses = ['COUNTER_SWAPPED', 'OFFLINE_DIAGNOSTICS', 'OFFLINE_REPAIR', 'OFFLINE_RESOLVED'];
    expect(new Set(repairs.map((repair: { status: string }) => repair.status))).toEqual(
      new Set([...statuses, 'OFFLINE_CLOSED']),
    );
    expect(repairs.some((repair: { isDangerous: boolean }) => repair.isDangerous)).toBe(true);
    // Both kinds are spread over the past days.
    const trade = (await server.get('/trade-returns?limit=100')).body.items;
    for (const items of [repairs, trade]) {
      const times: string[] = items.map(({ updatedAt }: { updatedAt: string }) => updatedAt);
      expect(times.every((time) => Date.parse(time) <= Date.now())).toBe(true);
      const days = items.map(({ createdAt }: { createdAt: string }) => createdAt.slice(0, 10));
      expect(new Set(days).size).toBeGreaterThan(10);
    }
  });

  it('can be run twice, and is readable without --json', async () => {
    const { env, cli } = await setUp();
    await cli('demo');
    const { status, stdout, stderr } = await runHere(['demo'], env);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^email +\S+@\S+$/m);
    expect(stdout).toMatch(/^password +\S+$/m);
    expect(stdout).toMatch(/^try +curl .*handback_ext_/m);
    expect(await cli('shop', 'list')).toHaveLength(2);
  });
});

it('readable output has one named line for each field, and one line for each row', async () => {
  const { env } = await setUp();
  expect((await runHere(['shop', 'list'], env)).stdout).toBe('(none)\n');
  const shop = await runHere(['shop', 'create', '--name', 'Corner shop'], env);
  expect(shop.stdout).toMatch(/^name +Corner shop$/m);
  expect(shop.stdout).toMatch(/^plan +SCALE$/m);
  expect(shop.stdout).not.toMatch(/[{}"[\]]|null|undefined/);
  const id = /^id +(\S+)$/m.exec(shop.stdout)?.[1] ?? '';
  const client = await runHere(['client', 'create', '--shop', id, '--name', 'Till'], env);
  expect(client.stdout).toMatch(/^apiKey +handback_ext_\S+$/m);
  expect(client.stdout).toMatch(/^webhookSecret +\S+$/m);
  const list = (await runHere(['shop', 'list'], env)).stdout.trimEnd().split('\n');
  expect(list).toHaveLength(2);
  expect(list[0]).toMatch(/^id +name +plan/);
  expect(list[1]).toContain('Corner shop');
  const clients = (await runHere(['client', 'list', '--shop', id], env)).stdout;
  expect(clients).toContain('Till');
  expect(clients).not.toMatch(/handback_ext_|whsec_/);
});
