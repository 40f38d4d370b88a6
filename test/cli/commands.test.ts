import { describe, expect, it } from 'vitest';
import { cliHere as cli, runHere } from '../support/commands-here.ts';
import { cli as cliAsProcess, lookInto, migratedDatabase, run, startServer } from '../support/process.ts';
import { makeShop } from '../support/shops.ts';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const NOBODY = '019a8c1e-7a54-7cc1-9a3e-5b1f0c7d2e44';

const failing = async (
  args: string[],
  env: Record<string, string>,
  input?: string,
  runs: typeof runHere = runHere,
) => {
  const { status, stdout, stderr } = await runs([...args, '--json'], env, { input: input ?? '' });
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(/^handback: [^\n]+\n$/);
  return stderr;
};

describe('every command is a program', () => {
  it('that does its work, prints one line and ends by itself', async () => {
    const env = await migratedDatabase();
    const done = (...args: string[]) => cliAsProcess(args, env);
    expect(await done('migrate')).toEqual({ migrated: true });
    const { id: shop } = await done('shop', 'create', '--name', 'Shop');
    expect(await done('shop', 'update', shop, '--plan', 'GROWTH')).toMatchObject({
      id: shop,
      plan: 'GROWTH',
    });
    expect(await done('shop', 'dangerous', shop, '--add', 'GAS-1')).toMatchObject({ rules: ['GAS-1'] });
    expect(await done('shop', 'list')).toHaveLength(1);
    const of = ['--shop', shop];
    const staff = ['user', 'create', ...of, '--email', 'bo@example.com', '--role', 'STAFF'];
    expect(await cliAsProcess(staff, env, 'battery staple\n')).toMatchObject({ email: 'bo@example.com' });
    const ada = 'ada@example.com';
    expect(await done('user', 'invite', ...of, '--email', ada, '--role', 'ADMIN')).toMatchObject({
      email: ada,
    });
    expect(await done('user', 'link', ada)).toMatchObject({ email: ada });
    expect(await done('user', 'reset-factor', ada)).toMatchObject({ email: ada });
    const { id: old } = await done('client', 'create', ...of, '--name', 'Till');
    expect(await done('client', 'update', old, '--name', 'Desk')).toMatchObject({ name: 'Desk' });
    const { id: client } = await done('client', 'replace', old);
    expect(await done('client', 'revoke', client)).toMatchObject({ revokedAt: expect.stringMatching(ISO) });
    expect(await done('client', 'list', ...of)).toHaveLength(2);
    expect(await done('demo')).toMatchObject({ apiKey: expect.stringMatching(/^handback_ext_/) });
  });

  it('that ends with status 1 where something cannot be done', async () => {
    const env = await migratedDatabase();
    expect(await failing(['shop', 'dangerous', NOBODY], env, '', run)).toContain(NOBODY);
    expect(await failing(['user', 'link', 'ada@example.com'], env, '', run)).toContain('ada@example.com');
    expect(await failing(['client', 'revoke', NOBODY], env, '', run)).toContain(NOBODY);
  });
});

describe('migrate', () => {
  it('can be run again and again', async () => {
    const env = await migratedDatabase();
    expect(await cli(['migrate'], env)).toEqual(await cli(['migrate'], env));
    expect((await runHere(['migrate'], env)).status).toBe(0);
  });
});

describe('shops', () => {
  it('are created with the plan asked for and its usual billing', async () => {
    const env = await migratedDatabase();
    expect(await cli(['shop', 'create', '--name', '  Corner shop  '], env)).toEqual({
      id: expect.stringMatching(UUID7),
      name: 'Corner shop',
      plan: 'SCALE',
      subscription: 'active',
      billing: 'ALLOWANCE',
      allowance: 2000,
      usageCap: null,
      createdAt: expect.stringMatching(ISO),
    });
    expect(await cli(['shop', 'create', '--name', 'Big', '--plan', 'ENTERPRISE'], env)).toMatchObject({
      plan: 'ENTERPRISE',
      billing: 'USAGE',
      allowance: null,
      usageCap: null,
    });
    expect(
      await cli(['shop', 'create', '--name', 'Own', '--plan', 'ENTERPRISE', '--allowance', '7'], env),
    ).toMatchObject({ billing: 'ALLOWANCE', allowance: 7, usageCap: null });
    expect(await cli(['shop', 'create', '--name', 'Own', '--usage-cap', '9'], env)).toMatchObject({
      plan: 'SCALE',
      billing: 'USAGE',
      allowance: null,
      usageCap: 9,
    });
    const list = await cli(['shop', 'list'], env);
    expect(list.map((shop: { name: string }) => shop.name)).toEqual(['Corner shop', 'Big', 'Own', 'Own']);
  });

  it('are changed one thing at a time, the rest staying as it was', async () => {
    const env = await migratedDatabase();
    const { id, createdAt } = await cli(['shop', 'create', '--name', 'Shop', '--allowance', '5'], env);
    const update = (...options: string[]) => cli(['shop', 'update', id, ...options], env);
    const shop = { id, name: 'Shop', createdAt, usageCap: null };
    const before = { ...shop, subscription: 'active', billing: 'ALLOWANCE', allowance: 5 };
    expect(await update('--plan', 'GROWTH')).toEqual({ ...before, plan: 'GROWTH' });
    expect(await update('--subscription', 'inactive')).toEqual({
      ...before,
      plan: 'GROWTH',
      subscription: 'inactive',
    });
    expect(await update('--subscription', 'active', '--plan', 'SCALE', '--allowance', '6')).toEqual({
      ...before,
      plan: 'SCALE',
      allowance: 6,
    });
    expect(await update('--allowance', 'none')).toMatchObject({ billing: 'ALLOWANCE', allowance: null });
    expect(await update('--usage-cap', '8')).toMatchObject({
      billing: 'USAGE',
      allowance: null,
      usageCap: 8,
    });
    expect(await update('--usage-cap', 'none')).toMatchObject({ billing: 'USAGE', usageCap: null });
  });

  it('are listed as an empty array where there is none', async () => {
    const env = await migratedDatabase();
    expect(await cli(['shop', 'list'], env)).toEqual([]);
    expect((await runHere(['shop', 'list'], env)).stdout).toBe('(none)\n');
  });

  it('take dangerous-goods rules, which hold for the next repair', async () => {
    const env = await migratedDatabase();
    const { shopId, key } = await makeShop(env);
    const server = await startServer(env, { key });
    const sku = (name: string) => ({ sku: name, productName: 'Battery', quantity: 1, price: 1 });
    const dangerous = async (name: string) => {
      const { body } = await server.post('/offline-repairs', {
        orderNumber: 'SO-1',
        customerEmail: 'ada@example.com',
        customerName: 'Ada',
        faultyItem: sku(name),
        faultDescription: 'Hot',
        storeId: 'store-1',
      });
      return body.isDangerous;
    };
    const rules = (...options: string[]) => cli(['shop', 'dangerous', shopId, ...options], env);
    expect(await rules()).toEqual({ shopId, rules: [] });
    expect(await dangerous('BATT-1')).toBe(false);
    expect(await rules('--add', 'BATT-*', '--add', 'GAS-1', '--add', 'GAS-1')).toEqual({
      shopId,
      rules: ['BATT-*', 'GAS-1'],
    });
    expect(await dangerous('BATT-1')).toBe(true);
    expect(await dangerous('GAS-1')).toBe(true);
    expect(await dangerous('GAS-11')).toBe(false);
    expect(await rules('--remove', 'BATT-*')).toEqual({ shopId, rules: ['GAS-1'] });
    expect(await dangerous('BATT-1')).toBe(false);
    expect(await failing(['shop', 'dangerous', shopId, '--remove', 'BATT-*'], env)).toContain('BATT-*');
  });

  it('leave the rules as they were where one of several changes cannot be made', async () => {
    const env = await migratedDatabase();
    const { id } = await cli(['shop', 'create', '--name', 'Shop'], env);
    await failing(['shop', 'dangerous', id, '--add', 'GAS-*', '--remove', 'NOT-THERE'], env);
    expect(await cli(['shop', 'dangerous', id], env)).toEqual({ shopId: id, rules: [] });
  });

  it('that do not exist are named in the refusal', async () => {
    const env = await migratedDatabase();
    expect(await failing(['shop', 'update', NOBODY, '--plan', 'SCALE'], env)).toContain(NOBODY);
    expect(await failing(['shop', 'update', 'not-an-id', '--plan', 'SCALE'], env)).toContain('not-an-id');
    expect(await failing(['shop', 'dangerous', NOBODY], env)).toContain(NOBODY);
    expect(await failing(['client', 'create', '--shop', NOBODY, '--name', 'Till'], env)).toContain(NOBODY);
    expect(await failing(['client', 'list', '--shop', NOBODY], env)).toContain(NOBODY);
  });
});

describe('users', () => {
  const user = (shop: string, email: string, ...more: string[]) => [
    ...['user', 'create', '--shop', shop, '--email', email],
    ...more,
  ];

  it('are created with a password given, or read from standard input', async () => {
    const env = await migratedDatabase();
    const { id: shop } = await cli(['shop', 'create', '--name', 'Shop'], env);
    const given = await cli(
      user(shop, 'Ada@Example.com', '--role', 'ADMIN', '--password', 'correct horse'),
      env,
    );
    expect(given).toEqual({ id: expect.stringMatching(UUID7), email: 'ada@example.com', role: 'ADMIN' });
    const named = ['--role', 'STAFF', '--name', 'Bo Lindqvist'];
    const piped = await cli(user(shop, 'bo@example.com', ...named), env, 'battery staple\n');
    const { name } = await lookInto(env)
      .selectFrom('users')
      .select('name')
      .where('id', '=', piped.id)
      .executeTakeFirstOrThrow();
    expect(name).toBe('Bo Lindqvist');
    expect(piped).toEqual({ id: expect.stringMatching(UUID7), email: 'bo@example.com', role: 'STAFF' });
  });

  it('are refused with an e-mail that is taken, also in other letters and in another shop', async () => {
    const env = await migratedDatabase();
    const { id: shop } = await cli(['shop', 'create', '--name', 'Shop'], env);
    const { id: other } = await cli(['shop', 'create', '--name', 'Other'], env);
    const more = ['--role', 'STAFF', '--password', 'correct horse'];
    await cli(user(shop, 'ada@example.com', ...more), env);
    expect(await failing(user(other, 'ADA@example.com', ...more), env)).toContain('e-mail');
  });

  it('are refused with a password that is too short, too long or absent, which is never echoed', async () => {
    const env = await migratedDatabase();
    const { id: shop } = await cli(['shop', 'create', '--name', 'Shop'], env);
    const args = user(shop, 'ada@example.com', '--role', 'STAFF');
    for (const password of ['short7!', 'x'.repeat(201)]) {
      const line = await failing([...args, '--password', password], env);
      expect(line).toContain('password');
      expect(line).not.toContain(password);
    }
    expect(await failing(args, env, 'short7!\n')).toContain('password');
    expect(await failing(args, env, '')).toContain('password');
    expect(await failing(user(NOBODY, 'ada@example.com', '--role', 'STAFF'), env, 'long enough\n')).toContain(
      NOBODY,
    );
  });

  it('are invited with a link, get a new one, and lose their second factor', async () => {
    const env = { ...(await migratedDatabase()), PUBLIC_URL: 'https://returns.example.com' };
    const { id: shop } = await cli(['shop', 'create', '--name', 'Shop'], env);
    const args = ['user', 'invite', '--shop', shop, '--email', 'Ada@Example.com', '--role', 'ADMIN'];
    const LINK = /^https:\/\/returns\.example\.com\/admin\/link#[0-9a-f]{64}$/;
    const invited = await cli(args, env);
    const shown = {
      link: expect.stringMatching(LINK),
      linkExpiresAt: expect.stringMatching(ISO),
      mailed: false,
    };
    const { id } = invited;
    expect(invited).toEqual({ id, email: 'ada@example.com', role: 'ADMIN', ...shown });
    const again = await cli(['user', 'link', 'ADA@example.com'], env);
    expect(again).toEqual({ id, email: 'ada@example.com', ...shown });
    expect(again.link).not.toBe(invited.link);
    expect(await cli(['user', 'reset-factor', 'ada@example.com'], env)).toEqual({
      id,
      email: 'ada@example.com',
      secondFactor: false,
    });
    expect(await failing(args, env)).toContain('e-mail');
    for (const command of ['link', 'reset-factor'])
      expect(await failing(['user', command, 'bo@example.com'], env)).toContain('bo@example.com');
  });
});

describe('clients', () => {
  it('are created, listed, changed and revoked; key and secret are shown once', async () => {
    const env = await migratedDatabase();
    const { id: shop } = await cli(['shop', 'create', '--name', 'Shop'], env);
    const url = 'https://hooks.example.com/handback';
    const created = await cli(
      ['client', 'create', '--shop', shop, '--name', 'Till', '--webhook-url', url],
      env,
    );
    expect(created).toEqual({
      id: expect.stringMatching(UUID7),
      name: 'Till',
      webhookUrl: url,
      apiKey: expect.stringMatching(/^handback_ext_[0-9a-f]{48}$/),
      webhookSecret: expect.stringMatching(/^\S{32,}$/),
    });
    const shown = {
      id: created.id,
      name: 'Till',
      webhookUrl: url,
      lastUsedAt: null,
      revokedAt: null,
      replacedBy: null,
      createdAt: expect.stringMatching(ISO),
    };
    expect(await cli(['client', 'list', '--shop', shop], env)).toEqual([shown]);
    const update = (...options: string[]) => cli(['client', 'update', created.id, ...options], env);
    expect(await update()).toEqual(shown);
    expect(await update('--name', 'Desk')).toEqual({ ...shown, name: 'Desk' });
    expect(await update('--webhook-url', 'none')).toEqual({ ...shown, name: 'Desk', webhookUrl: null });
    const revoked = await cli(['client', 'revoke', created.id], env);
    expect(revoked).toEqual({
      ...shown,
      name: 'Desk',
      webhookUrl: null,
      revokedAt: expect.stringMatching(ISO),
    });
    expect(await cli(['client', 'revoke', created.id], env)).toEqual(revoked);
    expect(await failing(['client', 'update', created.id, '--name', 'Back'], env)).toContain('is revoked');
  });

  it('are replaced: the new one has the name and URL of the old one, or those given', async () => {
    const env = await migratedDatabase();
    const { id: shop } = await cli(['shop', 'create', '--name', 'Shop'], env);
    const url = 'https://hooks.example.com/handback';
    const create = ['client', 'create', '--shop', shop, '--name', 'Till', '--webhook-url', url];
    const first = await cli(create, env);
    const replace = (id: string, ...options: string[]) => ['client', 'replace', id, ...options];
    const second = await cli(replace(first.id), env);
    expect(second).toEqual({
      id: expect.stringMatching(UUID7),
      name: 'Till',
      webhookUrl: url,
      apiKey: expect.stringMatching(/^handback_ext_[0-9a-f]{48}$/),
      webhookSecret: expect.stringMatching(/^whsec_[0-9a-f]{48}$/),
    });
    expect(second.apiKey).not.toBe(first.apiKey);
    expect(await failing(replace(first.id), env)).toContain(second.id);
    expect(await failing(replace(second.id, '--webhook-url', 'https://10.0.0.1/x'), env)).toContain(
      'webhook URL',
    );
    expect(await failing(replace(NOBODY), env)).toContain(NOBODY);
    const third = await cli(replace(second.id, '--name', 'Desk', '--webhook-url', 'none'), env);
    expect(third).toMatchObject({ name: 'Desk', webhookUrl: null });
    expect(await cli(['client', 'list', '--shop', shop], env)).toMatchObject([
      { id: first.id, revokedAt: expect.stringMatching(ISO), replacedBy: third.id },
      { id: second.id, revokedAt: expect.stringMatching(ISO), replacedBy: third.id },
      { id: third.id, revokedAt: null, replacedBy: null },
    ]);
  });

  it('without a webhook URL have null there', async () => {
    const env = await migratedDatabase();
    const { id: shop } = await cli(['shop', 'create', '--name', 'Shop'], env);
    const created = await cli(['client', 'create', '--shop', shop, '--name', 'Till'], env);
    expect(created).toMatchObject({ name: 'Till', webhookUrl: null });
  });

  it('refuse a webhook URL that leads into a private network, unless the operator allows it', async () => {
    const env = await migratedDatabase();
    const { id: shop } = await cli(['shop', 'create', '--name', 'Shop'], env);
    const create = (url: string) => [
      ...['client', 'create', '--shop', shop, '--name', 'Till', '--webhook-url', url],
    ];
    for (const url of ['https://127.0.0.1/x', 'http://hooks.example.com/x', 'nowhere'])
      expect(await failing(create(url), env)).toContain('webhook URL');
    // A command has an environment of its own: it names the setting where that would let the URL pass.
    for (const url of ['https://127.0.0.1/x', 'http://127.0.0.1:4110/', 'http://hooks.example.com/x'])
      expect(await failing(create(url), env)).toContain('WEBHOOK_ALLOW_PRIVATE_NETWORKS=true');
    for (const url of ['nowhere', 'http://ada:pw@127.0.0.1/x'])
      expect(await failing(create(url), env)).not.toContain('WEBHOOK_ALLOW_PRIVATE_NETWORKS');
    const allowed = { ...env, WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' };
    const { id } = await cli(create('http://127.0.0.1:9/x'), allowed);
    expect(await failing(['client', 'update', id, '--webhook-url', 'https://10.0.0.1/x'], env)).toContain(
      'webhook URL',
    );
    expect(await cli(['client', 'list', '--shop', shop], env)).toHaveLength(1);
  });

  it('that do not exist are named in the refusal', async () => {
    const env = await migratedDatabase();
    expect(await failing(['client', 'revoke', NOBODY], env)).toContain(NOBODY);
    expect(await failing(['client', 'update', NOBODY, '--name', 'Till'], env)).toContain(NOBODY);
    expect(await failing(['client', 'revoke', "'; drop table shops; --"], env)).toContain('drop table');
  });
});

describe('demo', () => {
  it('prints the address that the service has, also where the command has other settings', async () => {
    const env = await migratedDatabase();
    const server = await startServer(env);
    const own = await cli(['demo'], env);
    expect(own.admin).toBe(`${server.url}/admin`);
    expect(own.try).toContain(`'${server.url}/api/`);
  });

  it('makes a filled shop, and prints a key that works', async () => {
    const env = await migratedDatabase();
    const shown = await cli(['demo'], { ...env, PUBLIC_URL: 'https://returns.example.com' });
    expect(shown).toMatchObject({
      shopId: expect.stringMatching(UUID7),
      admin: 'https://returns.example.com/admin',
      email: expect.stringContaining('@'),
      password: expect.stringMatching(/^\S{8,}$/),
      apiKey: expect.stringMatching(/^handback_ext_/),
      try: expect.stringContaining('https://returns.example.com/api/v1/external/v1/offline-repairs'),
    });
    const server = await startServer(env, { key: shown.apiKey });
    const { status, body } = await server.get('/offline-repairs?limit=100');
    expect(status).toBe(200);
    expect(body.total).toBeGreaterThanOrEqual(10);
    const statuses = new Set(body.items.map((repair: { status: string }) => repair.status));
    expect(statuses).toEqual(
      new Set([
        ...['COUNTER_SWAPPED', 'OFFLINE_DIAGNOSTICS', 'OFFLINE_REPAIR', 'OFFLINE_RESOLVED', 'OFFLINE_CLOSED'],
      ]),
    );
    expect(body.items.some((repair: { isDangerous: boolean }) => repair.isDangerous)).toBe(true);
    expect(
      body.items.every((repair: { updatedAt: string }) => Date.parse(repair.updatedAt) <= Date.now()),
    ).toBe(true);
    // Both kinds are spread over the past days.
    for (const kind of ['offline-repairs', 'trade-returns']) {
      const { items } = (await server.get(`/${kind}?limit=100`)).body;
      const days = new Set(items.map(({ createdAt }: { createdAt: string }) => createdAt.slice(0, 10)));
      expect(days.size, kind).toBeGreaterThan(10);
    }
  });

  it('can be run twice, and is readable without --json', async () => {
    const env = await migratedDatabase();
    await cli(['demo'], env);
    const { status, stdout, stderr } = await runHere(['demo'], env);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^email +\S+@\S+$/m);
    expect(stdout).toMatch(/^password +\S+$/m);
    expect(stdout).toMatch(/^try +curl .*handback_ext_/m);
    expect(await cli(['shop', 'list'], env)).toHaveLength(2);
  });
});

describe('output to be read', () => {
  it('has one named line a field, and one line a row', async () => {
    const env = await migratedDatabase();
    const shop = await runHere(['shop', 'create', '--name', 'Corner shop'], env);
    expect(shop.status).toBe(0);
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
});
