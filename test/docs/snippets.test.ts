import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import Sqlite from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { BASE_PATH, ErrorBody } from '../../contract/common.ts';
import { WEBHOOK_EVENT_DATA, type WebhookEventName } from '../../contract/webhook-event.ts';
import { changeClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { newPerson } from '../support/admin.ts';
import { repairBody, tradeBody } from '../support/bodies.ts';
import type { Harness } from '../support/harness.ts';
import { freePort } from '../support/postgres-server.ts';
import { hangUpHalfway, startReceiver } from '../support/receiver.ts';
import { guidePages, guideText, programOf, type Reader, runPage, snippetsOf } from '../support/snippets.ts';
import { needs, type Tool } from '../support/tools.ts';
import { scaled, until, untilMatches } from '../support/until.ts';
import { webhookHarness } from '../support/webhooks.ts';

// Everything that the guides show is run or checked here.

const readerOf = ({ url, client }: Harness): Reader => ({
  url,
  apiKey: client.apiKey,
  webhookSecret: client.webhookSecret,
});

it('every code block of the guides is run by a test', () => {
  const RUN = ['sh', 'js', 'ts', 'python', 'php', 'java'];
  const CHECKED = ['json', 'http'];
  const languages = new Set(guidePages().flatMap((page) => snippetsOf(page).map(({ language }) => language)));
  expect([...RUN, ...CHECKED]).toEqual(expect.arrayContaining([...languages]));
  expect(
    guidePages().filter((page) => snippetsOf(page).some(({ language }) => language === 'sh')),
    'each has a test below',
  ).toEqual([
    'api.md',
    'create.md',
    'erase.md',
    'events.md',
    'go-live.md',
    'keep-a-copy.md',
    'quick-start.md',
    'warehouse.md',
    'webhooks.md',
  ]);
});

describe('the shell blocks, run from top to bottom', needs('bash', 'curl', 'jq', 'openssl'), () => {
  it('api.md: a repair from its creation to its end, and a trade return', async () => {
    const t = await webhookHarness();
    await runPage('api.md', readerOf(t));
    const { body: repairs } = await t.get('/offline-repairs?externalRef=POS-88213');
    expect(repairs.items).toEqual([
      expect.objectContaining({
        status: 'OFFLINE_CLOSED',
        offlineDisposition: 'RESTOCK_MASTER',
        trackingNumber: 'JD0146000034',
        assignedToId: 'tech-12',
      }),
    ]);
    expect((await t.get('/offline-repairs')).body.total, 'the dry run created nothing').toBe(1);
    expect((await t.get('/trade-returns?companyId=company-118')).body.total).toBe(1);
  });

  it('quick-start.md: a repair, its event, and a receiver that checks a signature', async () => {
    const t = await webhookHarness();
    const { output, secondTerminal } = await runPage('quick-start.md', readerOf(t));
    expect((await t.get('/offline-repairs?externalRef=POS-88213')).body.total).toBe(1);
    expect(output).toContain('204 No Content');
    expect(secondTerminal).toMatch(/verified: webhook\.test/);
    expect(output).toContain('"event": "offline_repair.created"');
  });

  it('erase.md: a customer is erased from closed returns, and events report it', async () => {
    const t = await webhookHarness();
    const closed = await t.create(t.client, { customerEmail: 'Ada@Example.com' });
    await t.post(`/offline-repairs/${closed.id}/close`, {});
    const { body: open } = await t.post('/trade-returns', tradeBody({ customerEmail: 'ada@example.com' }));
    await changeClient(t.ctx, OPERATOR, t.client.id, { rights: ['erase'] });
    const { output } = await runPage('erase.md', readerOf(t));
    expect(output).toContain('"dryRun":true,"matched":2,"erased":1');
    expect(output).toContain('"dryRun":false,"matched":2,"erased":1');
    expect(output).toContain(`"refused":[{"id":"${open.id}"`);
    expect(output).toContain('"event":"offline_repair.erased"');
    expect((await t.get(`/offline-repairs/${closed.id}`)).body).toMatchObject({
      customerName: '[erased]',
      customerEmail: 'erased@erased.invalid',
      erasedAt: expect.any(String),
    });
  });

  it('events.md: the feed by hand, and a program that follows it', async () => {
    await runPage('events.md', readerOf(await webhookHarness()));
  });

  it('go-live.md: a shop for tests, with a key of its own', async () => {
    const { output } = await runPage('go-live.md', { url: '', apiKey: '', webhookSecret: '' });
    expect(output).toMatch(/handback_ext_\w+/);
    expect(output).toContain('you@example.com');
  });

  it('warehouse.md: API clients move a trade return to its credit', async () => {
    const t = await webhookHarness();
    await changeClient(t.ctx, OPERATOR, t.client.id, { rights: ['write', 'move-trade-returns'] });
    await runPage('warehouse.md', readerOf(t));
    expect((await t.get('/trade-returns')).body.items).toMatchObject([{ status: 'TRADE_RESOLVED' }]);
  });

  it('webhooks.md: a signature by hand, and events for a receiver on this machine', async () => {
    const t = await webhookHarness();
    const receiver = await startReceiver();
    const reader = { ...readerOf(t), receiverPort: Number(new URL(receiver.url).port) };
    const { output } = await runPage('webhooks.md', reader);
    const [, shown] = /\| signature \| `([0-9a-f]{64})` \|/.exec(guideText('webhooks.md')) ?? [];
    expect(output).toContain(shown);
    expect((await receiver.got(1))[0]?.body.event).toBe('trade_return.credit_requested');
  });
});

/** Starts receiver.mjs, with this secret. */
const startQuickStart = async (secret: string, port: number) => {
  const program = programOf('quick-start.md', 'receiver.mjs', null);
  const receiver = program.start({ SECRET: secret, PORT: String(port) });
  await untilMatches(receiver.output, /waiting on port/);
  return { receiver, program };
};

describe('the receiver of the quick start', () => {
  it('accepts each delivery once, and refuses one signed with another secret', async () => {
    const t = await webhookHarness();
    const port = await freePort();
    const client = await t.addReceiver(`http://127.0.0.1:${port}/`);
    const { receiver } = await startQuickStart(client.webhookSecret, port);
    await t.create(client);
    await t.drained();
    expect((await t.deliveries()).map((each) => each.status)).toEqual(['DELIVERED']);
    expect(receiver.output()).toMatch(/^verified: offline_repair\.created #RMA-000001$/m);

    const [{ body = '' } = {}] = await t.deliveries();
    const signature = createHmac('sha256', client.webhookSecret).update(body).digest('hex');
    const deliver = (given: string) => {
      const headers = { 'x-webhook-signature': given, 'x-webhook-id': 'another' };
      return fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body });
    };
    expect(await deliver(signature), 'a copy under another X-Webhook-Id').toHaveStatus(204);
    for (const other of ['00', signature.toUpperCase(), `${signature}zz`])
      expect(await deliver(other), other).toHaveStatus(401);
    expect(receiver.output().match(/verified/g)).toHaveLength(1);
  });

  it('survives a caller that hangs up in the middle of a body, and does not start without a secret', async () => {
    const port = await freePort();
    const { program } = await startQuickStart('whsec_example', port);
    await hangUpHalfway(port);
    const forged = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' });
    expect(forged, 'it still answers').toHaveStatus(401);

    const { ended, output } = program.start({ PORT: String(port) });
    expect(await ended).toBe(1);
    expect(output()).toBe('Set SECRET to your webhook secret.\n');
  });
});

/** Ways in which a response can break off in the middle of its body. */
const WITH_LENGTH = { 'content-length': '50000' };
const IN_CHUNKS = { 'transfer-encoding': 'chunked' };
const TO_THE_END = { connection: 'close' };

/** A proxy that breaks off the first responses in these ways, and passes on all others unchanged. */
const breakingProxy = async (target: string, ways: Record<string, string>[]): Promise<string> => {
  const breaks = [...ways];
  const passOn = async ({ url, method, headers }: IncomingMessage, body: Buffer): Promise<Response> =>
    fetch(`${target}${url}`, {
      method: String(method),
      headers: ['x-api-key', 'content-type', 'idempotency-key'].flatMap((name): [string, string][] =>
        name in headers ? [[name, String(headers[name])]] : [],
      ),
      ...(method === 'POST' && { body: body.toString() }),
    });
  const server = createServer(async (request, response) => {
    try {
      const passedOn = await passOn(request, await buffer(request));
      const text = await passedOn.text();
      const broken = breaks.shift();
      if (!broken) return response.writeHead(passedOn.status).end(text);
      response.useChunkedEncodingByDefault = broken === IN_CHUNKS;
      response.writeHead(passedOn.status, { 'content-type': 'application/json', ...broken });
      response.write(text.slice(0, 20), () => response.socket?.end());
    } catch {
      // The service stops at the end of the test, while the program waits for the next event.
      response.destroy();
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/** Programs of a guide; without a tool Node runs them. */
const PROGRAMS = (...all: [file: string, tool: Tool | null][]) =>
  all.map(([file, tool]) => ({ file, tool, options: tool ? needs(tool) : {} }));

for (const { file, tool, options } of PROGRAMS(['follow.mjs', null], ['follow.py', 'python3']))
  describe(`${file}, which follows the feed,`, options, () => {
    const setUp = async () => {
      const t = await webhookHarness();
      const { folder, start } = programOf('events.md', file, tool);
      const cursorFile = join(folder, 'cursor.txt');
      const follow = (url = t.url) => start({ BASE: `${url}${BASE_PATH}`, KEY: t.client.apiKey });
      const newest = async () => (await t.get(`${BASE_PATH}/events?after=latest`)).body.cursor;
      return { t, cursorFile, start, follow, newest };
    };

    it('prints each event once, even if it is killed and started again', async () => {
      const { t, cursorFile, follow, newest } = await setUp();
      const numbers = (output: string) => [...output.matchAll(/#RMA-\d+/g)].map(([number]) => number);
      const first = follow();
      await t.create(t.client);
      await t.create(t.client);
      await until('both are printed', () => numbers(first.output()).length === 2);
      expect(numbers(first.output())).toEqual(['#RMA-000001', '#RMA-000002']);
      const cursor = await newest();
      await until(
        'it has stored its cursor',
        () => existsSync(cursorFile) && readFileSync(cursorFile, 'utf8') === cursor,
      );
      first.kill();
      await first.ended;

      await t.create(t.client);
      const second = follow();
      await untilMatches(second.output, /#RMA-000003/);
      expect(numbers(second.output())).toEqual(['#RMA-000003']);
    });

    it('retries if a response breaks off in the middle', async () => {
      const { t, follow } = await setUp();
      await t.create(t.client);
      const follower = follow(await breakingProxy(t.url, [WITH_LENGTH, IN_CHUNKS, TO_THE_END]));
      const ended = follower.ended.then((status) => {
        throw new Error(`it ended with ${status}: ${follower.output()}`);
      });
      const printed = untilMatches(follower.output, /#RMA-000001/);
      await Promise.race([ended, printed]);
      expect(follower.output()).toMatch(/^\S+ offline_repair\.created #RMA-000001 OFFLINE_DIAGNOSTICS\n$/);
    });

    it('accepts a cursor with a line end, and reports missing settings', async () => {
      const { t, cursorFile, start, follow, newest } = await setUp();
      await t.create(t.client);
      writeFileSync(cursorFile, `${await newest()}\n`);
      const follower = follow();
      await t.create(t.client);
      await untilMatches(follower.output, /#RMA-000002/);
      expect(follower.output()).not.toContain('#RMA-000001');

      const { ended, output } = start({ BASE: `${t.url}${BASE_PATH}` });
      expect(await ended).toBe(1);
      expect(output()).toBe('Set BASE to the base URL and KEY to your API key.\n');
    });
  });

for (const { file, tool, options } of PROGRAMS(
  ['create.mts', null],
  ['create.py', 'python3'],
  ['create.php', 'php'],
  ['Create.java', 'java'],
))
  it(`${file} creates one repair, even if responses are lost, and shows a refusal`, options, async () => {
    const t = await webhookHarness();
    const { start } = programOf('create.md', file, tool);
    const run = async (url: string, key: string) => {
      const program = start({ BASE: `${url}${BASE_PATH}`, KEY: key });
      return { status: await program.ended, output: program.output() };
    };
    const created = await run(await breakingProxy(t.url, [WITH_LENGTH, IN_CHUNKS]), t.client.apiKey);
    expect(created, created.output).toMatchObject({ status: 0 });
    expect(created.output).toMatch(/#RMA-000001\b.*OFFLINE_DIAGNOSTICS/);
    const { body: repairs } = await t.get('/offline-repairs');
    // By its reference a return is found again once its key has ended.
    expect(repairs.items).toEqual([
      expect.objectContaining({ externalRef: expect.stringMatching(/^POS-9000\d$/) }),
    ]);

    const refused = await run(t.url, 'handback_ext_wrong');
    expect(refused.status).not.toBe(0);
    expect(refused.output).toMatch(/refused: .*401/);
  });

it('create.mts compiles under strict', () => {
  const { folder } = programOf('create.md', 'create.mts', null);
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const flags = '--noEmit --strict --module nodenext --target es2022 --types node'.split(' ');
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const types = join(root, 'node_modules/@types');
  execFileSync(process.execPath, [tsc, ...flags, '--typeRoots', types, 'create.mts'], { cwd: folder });
});

for (const { file, tool, options } of PROGRAMS(
  ['verify.mjs', null],
  ['verify.py', 'python3'],
  ['verify.php', 'php'],
  ['Verify.java', 'java'],
))
  it(`${file} distinguishes valid from invalid signatures`, options, async () => {
    const receiver = await startReceiver();
    const t = await webhookHarness();
    const client = await t.addReceiver(receiver.url);
    await t.create(client, { customerName: 'Zoë Ångström 👩‍🔧', notes: 'ligne 1\nligne 2 "citée"' });
    const [{ bytes, headers }] = (await receiver.got(1)) as [(typeof receiver.received)[0]];
    const signature = String(headers['x-webhook-signature']);
    const { folder, program } = programOf('webhooks.md', file, tool);
    const verdict = (secret: string, given: string, input: Buffer) =>
      execFileSync(program(), [join(folder, file), secret, given], {
        timeout: scaled(60_000),
        input,
        encoding: 'utf8',
      }).trim();
    expect(verdict(client.webhookSecret, signature, bytes)).toBe('valid');
    const longer = Buffer.concat([bytes, Buffer.from(' ')]);
    expect(verdict(client.webhookSecret, signature, longer)).toBe('invalid');
    expect(verdict('whsec_another', signature, bytes)).toBe('invalid');
    for (const other of ['00', signature.toUpperCase(), `${signature}zz`])
      expect(verdict(client.webhookSecret, other, bytes), other).toBe('invalid');
  });

it('the sample values match each other', () => {
  const text = guideText('webhooks.md');
  const value = (name: string) => new RegExp(`^\\| ${name} \\| \`(.+)\` \\|$`, 'm').exec(text)?.[1] ?? '';
  const signature = createHmac('sha256', value('secret')).update(value('body')).digest('hex');
  expect(value('signature')).toBe(signature);
});

it('the request that the guide shows has the headers that are sent', async () => {
  const receiver = await startReceiver();
  const t = await webhookHarness();
  await t.create(await t.addReceiver(receiver.url));
  const [{ headers }] = (await receiver.got(1)) as [(typeof receiver.received)[0]];
  const [http] = snippetsOf('webhooks.md').filter(({ language }) => language === 'http');
  const shown = [...(http?.code ?? '').matchAll(/^([\w-]+): /gm)].map(([, name]) =>
    String(name).toLowerCase(),
  );
  expect(shown.filter((name) => !(name in headers))).toEqual([]);
  expect(shown).toEqual(expect.arrayContaining(Object.keys(headers).filter((name) => name.startsWith('x-'))));
});

/** The records that mirror.py has, as text. */
const copyIn = (folder: string): string => {
  const file = join(folder, 'mirror.sqlite');
  if (!existsSync(file)) return '';
  const db = new Sqlite(file, { readonly: true });
  try {
    const rows = db.prepare('select record from returns order by id').all() as { record: string }[];
    return JSON.stringify(rows.map(({ record }) => JSON.parse(record)));
  } catch {
    return ''; // its tables are not there yet
  } finally {
    db.close();
  }
};

it('mirror.py keeps a copy equal to the lists, through a kill, with corrections, and without an erased customer', {
  ...needs('python3'),
}, async () => {
  const t = await webhookHarness();
  const staff = await newPerson(t, { role: 'STAFF' });
  const { folder, start } = programOf('keep-a-copy.md', 'mirror.py', 'python3');
  const mirror = (more = {}) => start({ BASE: `${t.url}${BASE_PATH}`, KEY: t.client.apiKey, ...more });
  const isEqual = async (what: string) => {
    const lists = await Promise.all([t.get('/offline-repairs'), t.get('/trade-returns')]);
    const items = lists.flatMap(({ body }) => body.items as { id: string }[]);
    const wanted = JSON.stringify(items.sort((one, other) => (one.id < other.id ? -1 : 1)));
    await until(what, () => copyIn(folder) === wanted);
  };

  const { id } = await t.create(t.client);
  await t.post('/trade-returns', tradeBody());
  const first = mirror();
  await isEqual('the import is there');
  await t.create(t.client);
  await t.post(`/offline-repairs/${id}/begin-repair`, {});
  await isEqual('what the feed told is there');
  first.kill();
  await first.ended;

  await t.post(`/offline-repairs/${id}/close`, {});
  await staff.post(`/offline-repairs/${id}/correct`, { customerName: 'Ada Lovelace' });
  mirror({ SWEEP_EVERY: '0' });
  await isEqual('what changed while it was down is there');
  await staff.post(`/offline-repairs/${id}/correct`, { customerName: 'Ada King' });
  await isEqual('the correction is there');
  // A note changes updatedAt and has no event. The event of another return ends the wait, and a sweep is due.
  await staff.post(`/offline-repairs/${id}/notes`, { note: 'Called back' });
  await t.create(t.client);
  await isEqual('the note is swept in');
  await changeClient(t.ctx, OPERATOR, t.client.id, { rights: ['erase'] });
  const customerEmail = (await t.get(`/offline-repairs/${id}`)).body.customerEmail;
  const { body: erasure } = await t.post(`${BASE_PATH}/erasures`, { customerEmail });
  expect(erasure.returns).toMatchObject([{ id }]);
  await isEqual('the erasure is there');
  expect(readFileSync(join(folder, 'mirror.sqlite'), 'latin1')).not.toContain('Ada King');
});

describe('the JSON in the guides', () => {
  const Event = z.object({ event: z.string(), data: z.object({}).loose() });
  const expectEvent = (value: unknown): void => {
    const { event, data } = Event.parse(value);
    expect(Object.keys(WEBHOOK_EVENT_DATA)).toContain(event);
    expect(() =>
      z.strictObject(WEBHOOK_EVENT_DATA[event as WebhookEventName].shape).parse(data),
    ).not.toThrow();
  };
  const samples = guidePages().flatMap((page) =>
    snippetsOf(page)
      .filter(({ language }) => language === 'json')
      .map(({ code }) => ({ page, sample: JSON.parse(code) })),
  );

  it('matches the service: errors and events', () => {
    const errors = samples.filter(({ sample }) => 'statusCode' in sample);
    const events = samples.flatMap(({ sample }) => ('data' in sample ? [sample] : (sample.items ?? [])));
    expect([errors.length, events.length]).toEqual([2, 3]);
    for (const { sample } of errors) {
      expect(() => z.strictObject(ErrorBody.shape).parse(sample)).not.toThrow();
      expect(sample.docs).toMatch(/^https:\/\/returns\.example\.com\/docs\/errors#[A-Z_]+$/);
    }
    for (const event of events) expectEvent(event);
  });

  it('has the fields of the responses it represents', async () => {
    const t = await webhookHarness();
    const keysOf = (has: string) =>
      samples.filter(({ sample }) => has in sample).map(({ sample }) => Object.keys(sample).sort());
    const list = Object.keys((await t.get('/offline-repairs')).body).sort();
    expect(keysOf('totalPages')).toEqual([list]);
    const usage = await t.get(`${BASE_PATH}/usage`);
    expect(keysOf('resetsAt')).toEqual([Object.keys(usage.body).sort()]);
    const dryRun = await t.post('/offline-repairs/dry-run', repairBody());
    expect(keysOf('isDangerous')).toEqual([Object.keys(dryRun.body).sort()]);
    await changeClient(t.ctx, OPERATOR, t.client.id, { rights: ['erase'] });
    const erasure = await t.post(`${BASE_PATH}/erasures`, { customerEmail: 'ada@example.com', dryRun: true });
    expect(keysOf('matched')).toEqual([Object.keys(erasure.body).sort()]);
    const feed = await t.get(`${BASE_PATH}/events`);
    expect(keysOf('hasMore')).toEqual([Object.keys(feed.body).sort()]);
  });
});

/** The rules for requests of programs; the admin app has other ones. */
const RULE_SOURCES = [
  'contract/fields.ts',
  'contract/trade-return.ts',
  'contract/delivery.ts',
  'src/returns/kinds/receipts.ts',
  'src/http/validation.ts',
  'src/events/feed.ts',
].map((file) => new URL(`../../${file}`, import.meta.url));

describe('the tables in the guides', () => {
  it('name every event, and no other', () => {
    const known = Object.keys(WEBHOOK_EVENT_DATA);
    const named = new Set(
      [...guideText('webhooks.md').matchAll(/`((?:offline_repair|trade_return|webhook)\.\w+)`/g)].map(
        ([, name]) => name,
      ),
    );
    expect([...named].sort()).toEqual([...known].sort());
  });

  it('name every rule that an API client can break, and no other', () => {
    const table = /### Rules\n[\s\S]*?(?=\n### )/.exec(guideText('errors.md'))?.[0] ?? '';
    const named = [...table.matchAll(/^\| (`.+?`) \|/gm)].flatMap(([, cell]) =>
      [...String(cell).matchAll(/\w+/g)].map(([word]) => word),
    );
    const source = RULE_SOURCES.map((file) => readFileSync(file, 'utf8')).join('\n');
    const rules = source.matchAll(/(?:rule: |(?:fieldError|invalidField)\([^,]+, )'(\w+)'/g);
    const known = new Set([...rules].map(([, rule]) => rule));
    expect(named.filter((word) => word !== 'rule').sort()).toEqual([...known].sort());
  });
});
