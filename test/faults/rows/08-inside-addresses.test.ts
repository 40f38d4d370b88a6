import { createSocket } from 'node:dgram';
import { connect, createServer, type Server } from 'node:net';
import { fileURLToPath } from 'node:url';
import ipaddr from 'ipaddr.js';
import { expect, it, onTestFinished } from 'vitest';
import { FORBIDDEN_HOSTS, FORBIDDEN_NAMES, forbiddenUrls } from '../../support/addresses.ts';
import { effort, measured, triedDeliveries } from '../../support/faults.ts';
import { lookInto, migratedDatabase, startServer } from '../../support/process.ts';
import { startReceiver } from '../../support/receiver.ts';
import { addPerson, addShops, type MadeShop, makeShop, type SignedIn, signIn } from '../../support/shops.ts';
import { scaled, until } from '../../support/until.ts';
import { webhookHarness } from '../../support/webhooks.ts';

// A name server on loopback whose answers may change from one question to the next, as an attacker's do.

/** The addresses of a name, at the nth question for that name and type, from 1. */
type Addresses = (nth: number) => string[];

const TYPES: Record<number, 'ipv4' | 'ipv6'> = { 1: 'ipv4', 28: 'ipv6' };
const HEADER_BYTES = 12;
const NO_SUCH_NAME = 3;

const questionIn = (message: Buffer): { name: string; type: number; end: number } => {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
};

const responseTo = (message: Buffer, end: number, type: number, found: string[] | null): Buffer => {
  const header = Buffer.alloc(HEADER_BYTES);
  message.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180 | (found ? 0 : NO_SUCH_NAME), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(found?.length ?? 0, 6);
  const records = (found ?? []).map((address) => {
    const bytes = Buffer.from(ipaddr.parse(address).toByteArray());
    const record = Buffer.alloc(12);
    // The name of the question, and no one may cache the response.
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt32BE(0, 6);
    record.writeUInt16BE(bytes.length, 10);
    return Buffer.concat([record, bytes]);
  });
  return Buffer.concat([header, message.subarray(HEADER_BYTES, end), ...records]);
};

/** `asked`: how often each name was asked for, for IPv4 addresses; `env`: settings with which a process asks this server and no other. */
const startNameServer = async (names: Record<string, Addresses>) => {
  const questions = new Map<string, number>();
  const asked = new Map<string, number>();
  const socket = createSocket('udp4');
  socket.on('message', (message, { address, port }) => {
    const { name, type, end } = questionIn(message);
    const nth = (questions.get(`${type} ${name}`) ?? 0) + 1;
    questions.set(`${type} ${name}`, nth);
    if (TYPES[type] === 'ipv4') asked.set(name, nth);
    const all = names[name]?.(nth);
    const found = all?.filter((each) => ipaddr.parse(each).kind() === TYPES[type]) ?? null;
    socket.send(responseTo(message, end, type, found), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  onTestFinished(() => void socket.close());
  const preload = fileURLToPath(new URL('../../support/preloads/own-name-server.mjs', import.meta.url));
  return {
    asked,
    env: {
      NODE_OPTIONS: `--import ${preload}`,
      TEST_NAME_SERVER: `127.0.0.1:${socket.address().port}`,
    },
  };
};

const PUBLIC = '93.184.216.34';
/** An unassigned network: packets to it are lost. */
const NOWHERE = '3000::1';
const ATTEMPTS = effort(1, 4);
/** A shop may change its API clients 120 times a minute. */
const SAVED_BY_A_SHOP = 100;

/** Something inside that must never be called, on all addresses of this machine. A connection is a hit, whatever comes over it. */
const startCanary = async (): Promise<{ port: number; hits: () => number }> => {
  let hits = 0;
  const server = createServer((socket) => {
    hits += 1;
    socket.on('error', () => {}).destroy();
  });
  await new Promise<Server>((resolve) => server.listen(0, '::', () => resolve(server)));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  for (const host of ['127.0.0.1', '::1', '0.0.0.0'])
    await new Promise((resolve) =>
      connect(port, host)
        .on('error', () => {})
        .once('close', resolve),
    );
  // The canary works: it noticed each of these calls.
  await until('the canary notices calls', () => hits === 3);
  hits = 0;
  return { port, hits: () => hits };
};

/** An attacker's names. The first question comes when the URL is saved. */
const REBOUND: Record<string, Addresses> = {
  'once.test': (nth) => [nth === 1 ? PUBLIC : '127.0.0.1'],
  'once-mapped.test': (nth) => [nth === 1 ? PUBLIC : '::ffff:127.0.0.1'],
  'once-ipv6.test': (nth) => [nth === 1 ? PUBLIC : '::1'],
  'once-any.test': (nth) => [nth === 1 ? PUBLIC : '0.0.0.0'],
  'once-nat64.test': (nth) => [nth === 1 ? PUBLIC : '64:ff9b::7f00:1'],
  'once-6to4.test': (nth) => [nth === 1 ? PUBLIC : '2002:7f00:1::'],
  'once-mixed.test': (nth) => (nth === 1 ? [PUBLIC] : [NOWHERE, '127.0.0.1']),
  'last-of-many.test': (nth) => (nth === 1 ? [PUBLIC] : [...Array(20).fill(PUBLIC), '127.0.0.1']),
  'not-yet.test': (nth) => (nth === 1 ? [] : ['127.0.0.1']),
  'to-and-fro.test': (nth) => [nth % 2 === 1 ? NOWHERE : '127.0.0.1'],
};
/** Refused already when the URL is saved. */
const INSIDE: Record<string, Addresses> = {
  'inside.test': () => ['127.0.0.1'],
  'mixed.test': () => [PUBLIC, '127.0.0.1'],
  'mixed-families.test': () => [PUBLIC, '::1'],
  'metadata.test': () => ['169.254.169.254'],
};

/** A name server may know these too. */
const INSIDE_NAMES: Record<string, Addresses> = Object.fromEntries(
  [...FORBIDDEN_NAMES, 'localhost.localdomain.localhost'].map((name) => [
    name.toLowerCase().replace(/\.$/, ''),
    () => ['127.0.0.1'],
  ]),
);

it('no name and no spelling leads to an internal address, neither when saved nor when called', {
  timeout: scaled(150_000),
}, async () => {
  const canary = await startCanary();
  const names = await startNameServer({ ...INSIDE_NAMES, ...REBOUND, ...INSIDE });
  const database = await migratedDatabase();
  const server = await startServer({ ...database, ...names.env });
  const urls = [
    ...[...FORBIDDEN_HOSTS, ...FORBIDDEN_NAMES, ...Object.keys(INSIDE)].map(
      (host) => `https://${host}:${canary.port}/hook`,
    ),
    ...forbiddenUrls(canary.port),
  ];
  expect(urls.length).toBeGreaterThanOrEqual(100);

  // Saved: refused, or taken where the name leads outside for now.
  const admins: SignedIn[] = [];
  for (let i = 0; i < urls.length; i += SAVED_BY_A_SHOP) {
    const { shopId } = await makeShop(database);
    admins.push(await signIn(server, await addPerson(database, shopId, 'ADMIN')));
  }
  const save = (webhookUrl: string, i: number) =>
    (admins[Math.floor(i / SAVED_BY_A_SHOP)] as SignedIn).post(server, '/clients', {
      name: 'Till',
      webhookUrl,
    });
  const refused = await Promise.all(urls.map(save));
  for (const [i, response] of refused.entries()) expect(response, urls[i]).toHaveStatus(400);
  const rebound = Object.keys(REBOUND).map((name) => `https://${name}:${canary.port}/hook`);
  const keys = new Map<string, string>();
  for (const [i, url] of rebound.entries()) {
    const response = await save(url, i);
    expect(response, url).toHaveStatus(201);
    keys.set(url, response.body.apiKey);
  }

  // Called: what an older release, or a hand in the database, let through.
  const parsable = urls.filter((url) => URL.canParse(url));
  const others = await addShops(database, parsable.length);
  const db = lookInto(database);
  for (const [i, url] of parsable.entries()) {
    const { clientId, key } = others[i] as MadeShop;
    await db.updateTable('api_clients').set({ webhook_url: url }).where('id', '=', clientId).execute();
    keys.set(url, key);
  }
  const created = await Promise.all([...keys.values()].map((key) => server.create({}, { key })));
  for (const response of created) expect(response).toHaveStatus(201);

  for (const { webhook_url, attempt_log } of await triedDeliveries(db, keys.size, ATTEMPTS, 90_000))
    if (!/to-and-fro|^gopher|^file/.test(webhook_url ?? '')) {
      const [{ error }] = JSON.parse(attempt_log);
      expect([webhook_url, error]).toEqual([webhook_url, expect.stringMatching(/address not allowed/)]);
    }
  for (const name of Object.keys(REBOUND)) expect(names.asked.get(name)).toBeGreaterThanOrEqual(2);
  expect(canary.hits()).toBe(0);
  measured(8, `${urls.length} spellings and ${rebound.length} rebound names, 0 hits`);
});

it('a redirect to an internal address is not followed, whatever its status and headers', async () => {
  const canary = await startCanary();
  const inside = `http://127.0.0.1:${canary.port}/`;
  const t = await webhookHarness();
  const statuses = [300, 301, 302, 303, 305, 307, 308, 200, 201, 202];
  for (const status of statuses) {
    const receiver = await startReceiver((_nth, response) => {
      response.writeHead(status, {
        location: inside,
        'content-location': inside,
        refresh: `0; url=${inside}`,
        link: `<${inside}>; rel=preload`,
        'alt-svc': `http/1.1="127.0.0.1:${canary.port}"; ma=60`,
      });
      response.end();
      return undefined;
    });
    const client = await t.addReceiver(receiver.url);
    await t.create(client);
    const row = await t.attempted(1, client.id);
    const [attempt] = JSON.parse(row.attempt_log);
    expect([attempt.statusCode, row.status]).toEqual([status, status < 300 ? 'DELIVERED' : 'PENDING']);
  }
  expect(canary.hits()).toBe(0);
  measured(8, `${statuses.length} redirects, 0 followed`);
});
