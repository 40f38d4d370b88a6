import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ISO, UNKNOWN_ID, UUID7 } from '../support/api.ts';
import { failing } from '../support/backups.ts';
import { cliHere, runHere } from '../support/commands-here.ts';
import {
  type Env,
  launch,
  lookInto,
  migratedDatabase,
  outcome,
  run,
  startServer,
  temporaryFolder,
} from '../support/process.ts';
import { makeShop } from '../support/shops.ts';
import { mailServer } from '../support/smtp.ts';

// What is the commands' own: arguments, what they print, standard input, exit statuses. The rules are those of the actions that they
// call, which test/admin has.

const WEBHOOK_URL = 'https://hooks.example.com/handback';
const SECRETS = {
  apiKey: expect.stringMatching(/^handback_ext_[0-9a-f]{48}$/),
  webhookSecret: expect.stringMatching(/^whsec_[0-9a-f]{48}$/),
};
const NEW_ID = expect.stringMatching(UUID7);
const SOME_TIME = expect.stringMatching(ISO);

/** A database, and commands on it, with what they print as JSON, or the line with which they fail. */
const setUp = async (settings: Env = {}) => {
  const env = await migratedDatabase(settings);
  const prints = async (command: string, expected: unknown, input?: string) => {
    const result = await cliHere(command.split(' '), env, input);
    expect(result, command).toEqual(expected);
    return result;
  };
  const fails = async (command: string, about: RegExp) =>
    expect(await failing(command.split(' '), env), command).toMatch(about);
  return { env, prints, fails };
};

it('the error of a command names what does not exist', async () => {
  const { fails } = await setUp();
  for (const [command, id] of [
    ['shop update ID --plan SCALE', UNKNOWN_ID],
    ['shop update ID --plan SCALE', 'not-an-id'],
    ['shop dangerous ID', UNKNOWN_ID],
    ['client create --shop ID --name Till', UNKNOWN_ID],
    ['user create --shop ID --email a@b.example --role STAFF --password long-enough', UNKNOWN_ID],
    ['client list --shop ID', UNKNOWN_ID],
    ['client revoke ID', UNKNOWN_ID],
    ['client replace ID', UNKNOWN_ID],
    ['client update ID --name Till', UNKNOWN_ID],
    ['client revoke ID', "';drop-table-shops;--"],
    ['user link ID', 'bo@example.com'],
    ['user reset-factor ID', 'bo@example.com'],
  ] as const)
    await fails(command.replace('ID', id), new RegExp(`there is no (shop|client|user) ${id}`));
});

describe('shop', () => {
  it('create, update and list take and show plan, subscription and limits', async () => {
    const { prints } = await setUp();
    const common = { id: NEW_ID, name: 'Shop', subscription: 'active', createdAt: SOME_TIME };
    const byAllowance = { ...common, plan: 'SCALE', billing: 'ALLOWANCE', allowance: 2000, usageCap: null };
    const byUse = { ...byAllowance, billing: 'USAGE', allowance: null };
    const create = (options: string, expected: object) =>
      prints(`shop create --name Shop${options}`, expected);
    const all = [
      await create(' --plan ENTERPRISE', { ...byUse, plan: 'ENTERPRISE' }),
      await create(' --plan ENTERPRISE --allowance 7', { ...byAllowance, plan: 'ENTERPRISE', allowance: 7 }),
      await create(' --usage-cap 9', { ...byUse, usageCap: 9 }),
      await create('', byAllowance),
    ];
    let shop = await create(' --allowance 5', { ...byAllowance, allowance: 5 });
    expect(await prints('shop list', expect.any(Array))).toEqual(expect.arrayContaining([...all, shop]));
    for (const [options, change] of [
      ['--plan GROWTH', { plan: 'GROWTH' }],
      ['--subscription inactive', { subscription: 'inactive' }],
      [
        '--subscription active --plan SCALE --allowance 6',
        { subscription: 'active', plan: 'SCALE', allowance: 6 },
      ],
      ['--allowance none', { allowance: null }],
      ['--usage-cap 8', { billing: 'USAGE', usageCap: 8 }],
      ['--usage-cap none', { usageCap: null }],
    ] as const)
      shop = await prints(`shop update ${shop.id} ${options}`, { ...shop, ...change });
  });

  it('dangerous adds and removes rules, all of them or none', async () => {
    const { env, prints, fails } = await setUp();
    const { shopId } = await makeShop(env);
    const prefix = `shop dangerous ${shopId}`;
    await prints(prefix, { shopId, rules: [] });
    await prints(`${prefix} --add BATT-* --add GAS-1 --add GAS-1`, { shopId, rules: ['BATT-*', 'GAS-1'] });
    await prints(`${prefix} --remove BATT-*`, { shopId, rules: ['GAS-1'] });
    await fails(`${prefix} --remove BATT-* --add X`, /BATT-\*/);
    await prints(prefix, { shopId, rules: ['GAS-1'] });
  });
});

describe('user', () => {
  it('create takes a password as an option or from standard input, and never echoes it', async () => {
    const { env, prints, fails } = await setUp();
    const { shopId } = await makeShop(env);
    const create = (email: string, more = '') =>
      `user create --shop ${shopId} --role STAFF --email ${email}${more}`;
    const shown = (email: string) => ({ id: NEW_ID, email, role: 'STAFF' });
    await prints(create('Ada@Example.com', ' --password correct-horse'), shown('ada@example.com'));
    const { id } = await prints(
      create('bo@example.com', ' --name Bo'),
      shown('bo@example.com'),
      'battery staple\n',
    );
    const users = await lookInto(env).selectFrom('users').select(['id', 'name']).execute();
    expect(users).toContainEqual({ id, name: 'Bo' });
    await fails(create('ADA@example.com', ' --password correct-horse'), /email/);
    await fails(create('eve@example.com', ' --password short7!'), /^(?!.*short7!).*password/);
    for (const input of ['short7!\n', '']) {
      const { status, stderr } = await runHere(create('eve@example.com').split(' '), env, { input });
      expect([status, stderr]).toEqual([
        1,
        expect.stringMatching(/^handback: (?!.*short7!)[^\n]*password[^\n]*\n$/),
      ]);
    }
    // As a program, this once: it reads a line, prints one and exits, although its input stays open as that of a terminal does.
    const { child, out, ended } = launch([...create('dan@example.com').split(' '), '--json'], env);
    child.stdin.write('battery staple\n');
    const { status } = await ended;
    expect(outcome(status, out)).toMatchObject({ status: 0, stderr: '', json: shown('dan@example.com') });
  });

  it('invite, link and reset-factor print what they did', async () => {
    const { env, prints, fails } = await setUp({ PUBLIC_URL: 'https://returns.example.com' });
    const { shopId } = await makeShop(env);
    const link = expect.stringMatching(/^https:\/\/returns\.example\.com\/admin\/link#[0-9a-f]{64}$/);
    const shown = { id: NEW_ID, email: 'ada@example.com', link, linkExpiresAt: SOME_TIME, mailed: false };
    const invite = `user invite --shop ${shopId} --email Ada@Example.com --role ADMIN`;
    const { id, link: first } = await prints(invite, { ...shown, role: 'ADMIN' });
    expect((await prints('user link ADA@example.com', { ...shown, id })).link).not.toBe(first);
    await prints('user reset-factor ada@example.com', { id, email: 'ada@example.com', secondFactor: false });
    await fails(invite, /email/);
  });

  it('invite explains why its mail was not sent, without the password of the mail server', async () => {
    const mails = await mailServer({ password: 'the right one' });
    const SMTP_URL = mails.env.SMTP_URL.replace('//', '//returns:the-wrong-one@');
    const { env } = await setUp({ ...mails.env, SMTP_URL });
    const { shopId } = await makeShop(env);
    const args = [
      'user',
      'invite',
      '--shop',
      shopId,
      '--email',
      'ada@example.com',
      '--role',
      'STAFF',
      '--json',
    ];
    const { status, json, stderr } = await runHere(args, env);
    expect({ status, json }).toMatchObject({ status: 0, json: { mailed: false } });
    expect(stderr).toMatch(/^handback: a mail could not be sent[^\n]*user and password in SMTP_URL\n$/);
    expect(stderr).not.toMatch(/wrong-one|ada@/);
  });
});

it('mail test sends one mail or says why it cannot, and needs no database', async () => {
  const mails = await mailServer({ password: 'right' });
  const env = { ...mails.env, DATA_DIR: join(temporaryFolder(), 'none') };
  const test = ['mail', 'test', 'ada@example.com'];
  const as = (password: string) => ({
    ...env,
    SMTP_URL: mails.env.SMTP_URL.replace('//', `//me:${password}@`),
  });
  expect(await cliHere(test, as('right'))).toEqual({ sent: true, to: test[2], from: mails.env.MAIL_FROM });
  expect(mails.received).toMatchObject([{ to: [test[2]], text: expect.stringContaining('Test mail') }]);
  const refused = await failing(test, as('wrong-one'));
  expect(refused).toMatch(/the mail was not sent: .* user and password in SMTP_URL \[EAUTH 535\]/);
  expect(refused).not.toContain('wrong-one');
  expect(await failing(test, { DATA_DIR: env.DATA_DIR })).toMatch(/no mail server is set up: set SMTP_URL/);
  expect(await runHere(['mail', 'test', 'ada'], env)).toMatchObject({ status: 2, stdout: '' });
  expect(existsSync(env.DATA_DIR)).toBe(false);
});

it('with the default settings only migrate creates a database in the data folder', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'data'));
  const here = (command: string) => run(command.split(' '), {}, { shell: `cd ${folder}` });
  const refused = await here('shop create --name Shop');
  expect([refused.status, refused.stdout + refused.stderr]).toEqual([1, expect.stringMatching(/\bdata\b/)]);
  expect(readdirSync(folder, { recursive: true })).toEqual(['data']);
  expect((await here('migrate')).status).toBe(0);
  const { json } = await here('demo --json');
  expect(json).toMatchObject({ database: expect.stringMatching(/data\/handback\.sqlite$/) });
});

describe('client', () => {
  it('create, list, update, replace and revoke show the key and the secret once', async () => {
    const { env, prints, fails } = await setUp();
    const { shopId } = await makeShop(env);
    const at = `--shop ${shopId} --name Till`;
    const made = { id: NEW_ID, name: 'Till', webhookUrl: WEBHOOK_URL, ...SECRETS };
    const { id } = await prints(`client create ${at} --webhook-url ${WEBHOOK_URL}`, made);
    const history = { lastUsedAt: null, revokedAt: null, replacedBy: null, createdAt: SOME_TIME };
    const settings = { rights: ['write'], expiresAt: null, keyStatus: 'ACTIVE' };
    const shown = { id, name: 'Till', webhookUrl: WEBHOOK_URL, ...settings, ...history };
    expect(await prints(`client list --shop ${shopId}`, expect.any(Array))).toContainEqual(shown);
    await prints(`client update ${id}`, shown);
    await prints(`client update ${id} --name Desk`, { ...shown, name: 'Desk' });
    // Ids compare without case.
    await prints(`client update ${id.toUpperCase()}`, { ...shown, name: 'Desk' });
    expect(await prints(`client list --shop ${shopId.toUpperCase()}`, expect.any(Array))).toHaveLength(2);
    const second = await prints(`client replace ${id}`, { ...made, name: 'Desk' });
    await fails(`client replace ${id}`, new RegExp(second.id));
    const third = await prints(`client replace ${second.id} --name Till --webhook-url none`, {
      ...made,
      webhookUrl: null,
    });
    const changed = { ...shown, id: third.id, webhookUrl: null };
    await prints(`client update ${third.id} --webhook-url ${WEBHOOK_URL}`, {
      ...changed,
      webhookUrl: WEBHOOK_URL,
    });
    await prints(`client update ${third.id} --webhook-url none`, changed);
    await prints(`client revoke ${third.id}`, { ...changed, keyStatus: 'REVOKED', revokedAt: SOME_TIME });
    await fails(`client update ${third.id} --name Back`, /is revoked/);
  });

  it('takes rights by name, and days that end at midnight', async () => {
    const { env, prints, fails } = await setUp();
    const { shopId } = await makeShop(env);
    const now = Date.now();
    const day = (ahead: number) => new Date(now + ahead * 86_400_000).toISOString().slice(0, 10);
    const endOf = (ahead: number) => `${day(ahead + 1)}T00:00:00.000Z`;
    const create = `client create --shop ${shopId} --name Till`;
    const { id } = await prints(
      `${create} --rights write,move-trade-returns --expires ${day(40)}`,
      expect.anything(),
    );
    const both = { id, rights: ['write', 'move-trade-returns'], expiresAt: endOf(40), keyStatus: 'ACTIVE' };
    const { clients } = { clients: await prints(`client list --shop ${shopId}`, expect.any(Array)) };
    expect(clients.at(-1)).toMatchObject(both);
    const update = (client: string, options: string, change: object) =>
      prints(`client update ${client} ${options}`, expect.objectContaining(change));
    await update(id, `--expires ${day(3)}`, { ...both, expiresAt: endOf(3), keyStatus: 'EXPIRES_SOON' });
    await update(id, '--rights read --expires none', { rights: [], expiresAt: null });
    const next = await prints(`client replace ${id} --old-key-until ${day(7)}`, expect.anything());
    const [, replaced] = await prints(`client list --shop ${shopId}`, expect.any(Array));
    expect(replaced).toMatchObject({ id, expiresAt: endOf(7), revokedAt: null, replacedBy: next.id });
    await fails(`${create} --expires 2020-01-31`, /must be in the future/);
    await fails(`client replace ${next.id} --old-key-until ${day(31)}`, /30 days at most/);
    await update(next.id, '--rights write', { rights: ['write'] });
    await update(next.id, '--rights none', { rights: [] });
    for (const [option = '', ...values] of [
      ['--rights', '', 'all'],
      ['--expires', '2027-02-30', 'soon'],
    ])
      for (const value of values)
        expect((await runHere(['client', 'update', next.id, option, value], env)).status).toBe(2);
  });

  it('refuses a webhook URL in a private network, and names the setting that would allow it', async () => {
    const { env, fails } = await setUp();
    const { shopId, clientId } = await makeShop(env);
    const create = `client create --shop ${shopId} --name Till --webhook-url`;
    // A command has an environment of its own: the service may run with the setting.
    const hint = /the webhook URL .*WEBHOOK_ALLOW_PRIVATE_NETWORKS=true/;
    for (const url of ['https://127.0.0.1/x', 'http://127.0.0.1:4110/', 'http://hooks.example.com/x'])
      await fails(`${create} ${url}`, hint);
    for (const url of ['nowhere', 'http://ada:pw@127.0.0.1/x'])
      await fails(`${create} ${url}`, /the webhook URL (?!.*WEBHOOK_ALLOW_PRIVATE_NETWORKS)/);
    for (const command of ['update', 'replace'])
      await fails(`client ${command} ${clientId} --webhook-url https://10.0.0.1/x`, hint);
    expect(await cliHere(['client', 'list', '--shop', shopId], env)).toHaveLength(1);
    const allowed = { ...env, WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' };
    const webhookUrl = 'http://127.0.0.1:9/x';
    expect(await cliHere([...create.split(' '), webhookUrl], allowed)).toMatchObject({ webhookUrl });
  });
});

describe('demo', () => {
  it('creates a shop with sample data, and prints a key that works and the address of the service', async () => {
    const { env, prints } = await setUp();
    const server = await startServer(env);
    const shown = await prints(
      'demo',
      expect.objectContaining({
        shopId: NEW_ID,
        // Although the command has other settings than the service.
        admin: `${server.url}/admin`,
        email: expect.stringContaining('@'),
        password: expect.stringMatching(/^\S{8,}$/),
        apiKey: SECRETS.apiKey,
        try: expect.stringContaining(`'${server.url}/api/v1/external/v1/offline-repairs`),
      }),
    );
    const read = async (path: string) =>
      (await server.get(`${path}?limit=100`, { key: shown.apiKey })).body.items;
    const [repairs, trade] = [await read('/offline-repairs'), await read('/trade-returns')];
    expect(repairs.length).toBeGreaterThanOrEqual(10);
    const statuses = ['COUNTER_SWAPPED', 'OFFLINE_DIAGNOSTICS', 'OFFLINE_REPAIR', 'OFFLINE_RESOLVED'];
    expect(new Set(repairs.map((repair: { status: string }) => repair.status))).toEqual(
      new Set([...statuses, 'OFFLINE_CLOSED']),
    );
    expect(repairs.some((repair: { isDangerous: boolean }) => repair.isDangerous)).toBe(true);
    // Both kinds are spread over the past days.
    for (const items of [repairs, trade]) {
      const times: string[] = items.map(({ updatedAt }: { updatedAt: string }) => updatedAt);
      expect(times.every((time) => Date.parse(time) <= Date.now())).toBe(true);
      const days = items.map(({ createdAt }: { createdAt: string }) => createdAt.slice(0, 10));
      expect(new Set(days).size).toBeGreaterThan(10);
    }
  });

  it('can be run twice, is readable without --json, and shows the address in PUBLIC_URL', async () => {
    const { env } = await setUp({ PUBLIC_URL: 'https://returns.example.com' });
    for (const name of ['first', 'second']) {
      const { status, stdout, stderr } = await runHere(['demo'], env);
      expect({ status, stderr }, name).toEqual({ status: 0, stderr: '' });
      expect(stdout).toMatch(/^email +\S+@\S+$/m);
      expect(stdout).toMatch(/^password +\S+$/m);
      expect(stdout).toMatch(/^try +curl .*handback_ext_.*https:\/\/returns\.example\.com\/api/m);
    }
  });
});

it('readable output has one named line for each field, and one line for each row', async () => {
  const { env } = await setUp();
  const prints = async (...args: string[]) => (await runHere(args, env)).stdout;
  expect(await prints('shop', 'list')).toBe('(none)\n');
  const shop = await prints('shop', 'create', '--name', '  Corner shop ');
  expect(shop).toMatch(/^name +Corner shop\nplan +SCALE$/m);
  expect(shop).not.toMatch(/[{}"[\]]|null|undefined/);
  const id = /^id +(\S+)$/m.exec(shop)?.[1] ?? '';
  const client = await prints('client', 'create', '--shop', id, '--name', 'Till');
  expect(client).toMatch(/^apiKey +handback_ext_\S+\nwebhookSecret +\S+$/m);
  expect(await prints('shop', 'list')).toMatch(/^id +name +plan .*\n\S+ +Corner shop .*\n$/);
  const clients = await prints('client', 'list', '--shop', id);
  expect(clients).toContain('Till');
  expect(clients).not.toMatch(/handback_ext_|whsec_/);
});
