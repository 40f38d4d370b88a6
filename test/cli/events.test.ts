import { createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { BASE_PATH } from '../../contract/common.ts';
import { newRepair } from '../support/api.ts';
import { runHere, startHere } from '../support/commands-here.ts';
import { harness } from '../support/harness.ts';
import { freePort } from '../support/postgres-server.ts';
import { launch, startServer, temporaryFolder } from '../support/process.ts';
import { startReceiver, type TestReceiver } from '../support/receiver.ts';
import { atOnce } from '../support/responses.ts';
import { startShop } from '../support/shops.ts';
import { scaled, until, untilHolds, untilMatches } from '../support/until.ts';

const SECRET = 'whsec_forwarded';

interface Item {
  id: string;
  event: string;
  timestamp: string;
  data: Record<string, unknown>;
}

type Fault = (response: ServerResponse) => void;

const responses =
  (status: number, body: object | string = {}, headers: Record<string, string> = {}): Fault =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    const error = { statusCode: status, requestId: 'r' };
    response.end(typeof body === 'string' ? body : JSON.stringify({ ...error, ...body }));
  };

const echoesTheKey: Fault = (response) =>
  responses(401, { message: `No such key: ${response.req.headers['x-api-key']}` })(response);

/** The real feed of a shop. It records the requests, and answers the next ones with `faults` if there are any. */
const setUp = async () => {
  const asked: { at: number; query: Record<string, string> }[] = [];
  const faults: Fault[] = [];
  const t = await harness({
    prepare({ server }) {
      const listeners = server.listeners('request');
      server.removeAllListeners('request').on('request', (request: IncomingMessage, response) => {
        const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
        const isCommand = request.headers['user-agent']?.startsWith('Handback-CLI/');
        const isAsked = isCommand && pathname === `${BASE_PATH}/events`;
        if (isAsked) asked.push({ at: performance.now(), query: Object.fromEntries(searchParams) });
        const fault = isAsked ? faults.shift() : undefined;
        if (fault) fault(response);
        else for (const listener of listeners) listener.call(server, request, response);
      });
    },
  });
  const env = { HANDBACK_API_KEY: t.client.apiKey, HANDBACK_WEBHOOK_SECRET: SECRET };
  const add = (count: number, more = {}) =>
    atOnce(count, (i) => newRepair(t, { externalRef: `POS-${i}`, ...more }));
  const feed = async (query = 'limit=100'): Promise<{ items: Item[]; cursor: string }> =>
    (await t.get(`/events?${query}`)).body;
  const follow = (...args: string[]) => startHere(['events', '--url', t.url, ...args], env);
  const followAsProgram = (...args: string[]) => launch(['events', '--url', t.url, ...args], env);
  const forward = (to: string, ...args: string[]) => follow('--forward-to', to, ...args);
  return { ...t, env, asked, faults, add, feed, follow, followAsProgram, forward };
};
type Follower = Pick<ReturnType<typeof startHere>, 'out'>;

const linesOf = ({ out }: Follower) => out.stdout.split('\n').filter(Boolean);
const gotLines = (follower: Follower, count: number) =>
  untilHolds(
    `${count} lines are printed`,
    () => linesOf(follower),
    ({ length }) => length >= count,
  );
const gotItems = async (follower: Follower, count: number) =>
  (await gotLines(follower, count)).map((line) => JSON.parse(line));

/** Ends it as Ctrl-C does, sees that it never showed key or secret, and gives the cursor that it prints. */
const endedCleanly = async ({ out, ended, interrupt }: ReturnType<typeof startHere>) => {
  interrupt();
  expect((await ended).status).toBe(0);
  expect(out.stdout + out.stderr).not.toMatch(new RegExp(`handback_ext_|${SECRET}`));
  return /^To continue from here, pass --after (\S+)$/m.exec(out.stderr)?.[1];
};

describe('events', () => {
  it('prints existing and new events, one per line, until Ctrl-C', async () => {
    const { add, asked, feed, followAsProgram } = await setUp();
    await add(2);
    const { cursor } = await feed();
    const follower = followAsProgram();
    await gotLines(follower, 2);
    await until('it waits', () => asked.length === 2);
    await add(1, { externalRef: null });
    const lines = await gotLines(follower, 3);
    expect(lines.map((line) => line.split(/ {2,}/))).toEqual(
      (await feed()).items.map(({ id, event, timestamp, data }) => [
        ...[timestamp, event, data['rmaNumber'], data['status'], data['externalRef'] ?? '-', id],
      ]),
    );
    expect(asked.map(({ query }) => query).slice(0, 2)).toEqual([
      { limit: '100', wait: '25' },
      { limit: '100', wait: '25', after: cursor },
    ]);
    follower.child.kill('SIGINT');
    expect(await follower.ended).toEqual({ status: 0, signal: null });
    expect(follower.out.stderr).toMatch(
      /^Following http:\S+\/api\/v1\/external\/v1\/events, starting with the oldest/,
    );
  });

  it('asks where the service of this folder last started, unless PUBLIC_URL says how it is reached', async () => {
    const { env, key, server } = await startShop();
    const own = { DATA_DIR: env['DATA_DIR'] as string, HANDBACK_API_KEY: key };
    const PORT = String(await freePort());
    const nowhere = `http://127.0.0.1:${PORT}`;
    for (const [settings, url] of [
      [own, server.url],
      [{ ...own, HANDBACK_URL: nowhere }, nowhere],
      [{ ...own, PUBLIC_URL: nowhere }, nowhere],
      [{ ...own, DATA_DIR: temporaryFolder(), PORT }, nowhere],
    ] as const) {
      const follower = startHere(['events'], settings);
      await untilMatches(() => follower.out.stderr, /Ctrl-C ends it/);
      expect(follower.out.stderr).toContain(`Following ${url}${BASE_PATH}/events, `);
      await endedCleanly(follower);
    }
  });

  it('requests the types that it was given', async () => {
    const { asked, add, feed, follow, post } = await setUp();
    await add(2);
    const [first] = (await feed()).items;
    await post(`/offline-repairs/${first?.data['id']}/close`);
    const follower = follow('--types', 'offline_repair.closed', '--json');
    const [closed] = await gotItems(follower, 1);
    expect(closed).toMatchObject({ event: 'offline_repair.closed' });
    expect(asked[0]?.query).toEqual({ limit: '100', wait: '25', types: 'offline_repair.closed' });
    await endedCleanly(follower);
    const wrong = follow('--types', 'nothing');
    expect((await wrong.ended).status).toBe(1);
    expect(wrong.out.stderr).toContain('types must be all, or some of');
  });

  it('prints JSON lines with exactly the content of the feed, over several pages', async () => {
    const { add, feed, follow, url } = await setUp();
    await add(150, { customerName: 'Zoë "citée"\n👩‍🔧' });
    const follower = follow('--url', `${url}${BASE_PATH}/`, '--json');
    const items = await gotItems(follower, 150);
    const first = await feed();
    const second = await feed(`limit=100&after=${first.cursor}`);
    expect(items).toEqual([...first.items, ...second.items]);
    await endedCleanly(follower);
  });

  it('starts where --after says', async () => {
    const { add, asked, feed, follow } = await setUp();
    await add(2);
    const fromCursor = follow('--json', '--after', (await feed('limit=1')).cursor);
    const { items, cursor } = await feed();
    expect(await gotItems(fromCursor, 1)).toEqual(items.slice(1));
    await until('it waits', () => asked.length === 2);
    await endedCleanly(fromCursor);

    asked.length = 0;
    const fromNow = follow('--json', '--after', 'latest');
    await until('it waits', () => asked.length === 2);
    expect(asked.map(({ query }) => query)).toEqual([
      { limit: '100', after: 'latest' },
      { limit: '100', wait: '25', after: cursor },
    ]);
    await add(1);
    const all = (await feed()).items;
    expect(await gotItems(fromNow, 1)).toEqual(all.slice(2));
    await endedCleanly(fromNow);

    const fromOldest = follow('--json', '--after', 'oldest');
    expect(await gotItems(fromOldest, 3)).toEqual(all);
    await endedCleanly(fromOldest);
  });

  it("shows no control characters of callers' texts", async () => {
    const { add, follow } = await setUp();
    await add(1, { externalRef: '\u001b[31mred\u001b[0m\nnew \u009b2Jline\u202e' });
    const follower = follow();
    const [line = ''] = await gotLines(follower, 1);
    expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(line).toContain('new');
    await endedCleanly(follower);
    expect(linesOf(follower)).toHaveLength(1);
  });

  it('ends when the reader of its output closes', async () => {
    const { add, followAsProgram } = await setUp();
    await add(1);
    const follower = followAsProgram();
    await gotLines(follower, 1);
    follower.child.stdout.destroy();
    await add(1);
    expect(await follower.ended).toEqual({ status: 0, signal: null });
  });
});

describe('events with an unreliable service', () => {
  it('waits as long as a 429 says, and says so', async () => {
    const { add, asked, faults, follow } = await setUp();
    faults.push(responses(429, { message: 'Too many requests' }, { 'retry-after': '2' }));
    await add(1);
    const follower = follow();
    await untilMatches(() => follower.out.stderr, /429: Too many requests; trying again in 2 s/);
    await gotLines(follower, 1);
    const [refused, next] = asked;
    expect((next?.at ?? 0) - (refused?.at ?? 0)).toBeGreaterThan(1_900);
    expect(follower.out.stderr).toContain('the service responds again');
    await endedCleanly(follower);
  });

  it('loses and repeats nothing after a 503 and a response that breaks off', async () => {
    const { add, faults, feed, follow } = await setUp();
    faults.push(responses(503), (response) => response.destroy());
    await add(2);
    const follower = follow('--json');
    expect(await gotItems(follower, 2)).toEqual((await feed()).items);
    await endedCleanly(follower);
  });

  it('pauses between requests to a service that has no events and does not wait', async () => {
    const { asked, faults, follow, feed } = await setUp();
    const nothing = responses(200, { items: [], cursor: (await feed()).cursor, hasMore: false });
    faults.push(nothing, nothing, nothing);
    const start = Date.now();
    const follower = follow();
    await until('it asked four times', () => asked.length >= 4);
    expect(Date.now() - start).toBeGreaterThan(1_900);
    await endedCleanly(follower);
  });

  const FINAL: [what: string, fault: Fault, says: RegExp][] = [
    ['an expired cursor', responses(410, { code: 'CURSOR_EXPIRED' }), /30 days.*--after latest/],
    ['an unknown key', echoesTheKey, /key/],
    ['a plan without the API', responses(403, { message: 'Needs Scale' }), /403: Needs Scale/],
    ['an invalid cursor', responses(400, { message: ['after is odd'] }), /400: after is odd/],
    ['another address', responses(404), /no event feed at http.*--url/],
    ['a redirect', responses(302, {}, { location: 'http://127.0.0.1:9/' }), /moved/],
    ['a response that is not a feed', responses(200, '<html>'), /is not an event feed.*--url/],
  ];

  it('gives up with one line and status 1 if the response cannot change', async () => {
    const { url, env, asked, faults } = await setUp();
    for (const [what, fault, says] of FINAL) {
      faults.push(fault);
      asked.length = 0;
      const { status, stdout, stderr } = await runHere(['events', '--url', url], env);
      expect({ status, stdout }, what).toEqual({ status: 1, stdout: '' });
      expect(stderr).toMatch(/^Following [^\n]+\nhandback: [^\n]+\n$/);
      expect(stderr).toMatch(says);
      expect(stderr).not.toContain('handback_ext_');
      expect(asked).toHaveLength(1);
    }
  });
});

const idsOf = (received: TestReceiver['received']) => received.map(({ headers }) => headers['x-webhook-id']);

describe('events --forward-to', () => {
  it('sends each event in order, signed, with the headers and the bytes of its webhook', async () => {
    const { faults, forward } = await setUp();
    const receiver = await startReceiver();
    const bodies = [
      '"note":"Zoë 👩‍🔧 \u2028"',
      '"creditAmount":12345678901234567.8901',
      '"creditAmount":120.50',
    ].map(
      (data) => `"event":"trade_return.resolved","timestamp":"2026-11-15T10:00:00.000Z","data":{${data}}`,
    );
    const items = bodies.map((body, i) => `{"id":"event-${i}",${body}}`);
    // The service does not know this cursor, so the next request waits until the command ends.
    faults.push(responses(200, `{"items":[${items}],"cursor":"opaque","hasMore":false}`), () => {});
    const follower = forward(receiver.url);
    const received = await receiver.got(3);
    expect(received.map(({ bytes }) => bytes.toString('utf8'))).toEqual(bodies.map((body) => `{${body}}`));
    for (const [i, { headers, bytes }] of received.entries())
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        'user-agent': expect.stringMatching(/^Handback\/\d/),
        'x-webhook-signature': createHmac('sha256', SECRET).update(bytes).digest('hex'),
        'x-webhook-id': `event-${i}`,
        'x-webhook-event': 'trade_return.resolved',
        'x-webhook-attempt': '1',
      });
    expect((await gotLines(follower, 3))[0]).toMatch(/ {2}-> 200$/);
    await endedCleanly(follower);
  });

  it('retries until an unavailable or refusing receiver accepts the event, and sends none before it', async () => {
    const { add, feed, forward } = await setUp();
    const receiver = await startReceiver((n) => (n <= 2 ? 500 : 204));
    await add(2);
    const follower = forward(receiver.url, '--json');
    const received = await receiver.got(4);
    const [first, second] = (await feed()).items as [Item, Item];
    expect(idsOf(received)).toEqual([first.id, first.id, first.id, second.id]);
    expect(received.map(({ headers }) => headers['x-webhook-attempt'])).toEqual(['1', '2', '3', '1']);
    expect(await gotItems(follower, 2)).toEqual([
      { ...first, forwarded: { statusCode: 204, attempts: 3 } },
      { ...second, forwarded: { statusCode: 204, attempts: 1 } },
    ]);
    const { stderr } = follower.out;
    expect(stderr).toMatch(new RegExp(`does not accept \\S+ ${first.id}: status 500; trying again in 1 s`));
    expect(stderr.match(/status 500/g)).toHaveLength(1);
    expect(stderr).toContain('the receiver accepts events again');
  });

  it('says why it cannot reach a receiver, and still ends immediately', async () => {
    const { add, forward } = await setUp();
    await add(1);
    const follower = forward(`http://127.0.0.1:${await freePort()}/hook`);
    await untilMatches(() => follower.out.stderr, /connection refused/);
    await endedCleanly(follower);
    expect(follower.out.stdout).toBe('');
  });

  it('forwards the bytes of the webhooks, across restarts of both sides', {
    timeout: scaled(180_000),
  }, async () => {
    const [webhooks, forwarded] = [await startReceiver(), await startReceiver()];
    const { env, key, webhookSecret, ...started } = await startShop({ webhookUrl: webhooks.url });
    const own = { HANDBACK_API_KEY: key, HANDBACK_WEBHOOK_SECRET: webhookSecret };
    let { server } = started;
    const forward = (...args: string[]) =>
      startHere(['events', '--url', server.url, '--forward-to', forwarded.url, ...args], own);
    const change = async (customerName: string) => {
      const { body } = await server.create({ customerName });
      await server.post(`/offline-repairs/${body.id}/close`, {});
    };
    /** By id: after a stop within a page, some of its events are sent again. */
    const sentTo = ({ received }: TestReceiver) =>
      new Map(
        received.map(({ bytes, headers }) => [
          headers['x-webhook-id'],
          [bytes.toString('utf8'), headers['x-webhook-signature'], headers['x-webhook-event']],
        ]),
      );
    const forwardedAll = (count: number) =>
      until(`${count} events were forwarded`, () => sentTo(forwarded).size >= count);

    await change('Zoë Ångström 👩‍🔧');
    const first = forward();
    await forwardedAll(2);
    await gotLines(first, 2);
    const cursor = (await endedCleanly(first)) as string;
    await change('While nothing forwards');
    const second = forward('--after', cursor);
    await forwardedAll(4);
    expect(second.out.stderr).toContain(`starting after ${cursor}`);
    await server.stop();
    await untilMatches(() => second.out.stderr, /cannot be reached: .*; trying again/);
    server = await startServer({ ...env, PORT: String(server.port) }, { key });
    await change('After a restart of the service');
    await forwardedAll(6);
    await webhooks.got(6);
    expect(sentTo(forwarded)).toEqual(sentTo(webhooks));
    expect(sentTo(forwarded).size).toBe(6);
  });
});

describe('the cursor that events --forward-to prints at its end', () => {
  it('precedes a page that the receiver has not accepted completely', async () => {
    const { add, feed, forward } = await setUp();
    await add(3);
    const { cursor } = await feed('limit=1');
    const receiver = await startReceiver((n) => (n === 2 ? 500 : 200));
    const stopped = forward(receiver.url, '--after', cursor);
    await untilMatches(() => stopped.out.stderr, /status 500/);
    // It completed no page, so its cursor is still the one it was started with.
    expect(await endedCleanly(stopped)).toBeUndefined();
    forward(receiver.url, '--after', cursor);
    await receiver.got(4);
    const [, second, third] = (await feed()).items.map(({ id }) => id);
    expect(idsOf(receiver.received)).toEqual([second, third, second, third]);
  });

  it('is the newest one after --after latest, before any event arrived', async () => {
    const { add, asked, feed, forward } = await setUp();
    await add(2);
    const { cursor } = await feed();
    const follower = forward('http://127.0.0.1:9/', '--after', 'latest');
    await until('it waits', () => asked.at(-1)?.query['after'] === cursor);
    expect(await endedCleanly(follower)).toBe(cursor);
  });

  it('is also printed when the service refuses', async () => {
    const { add, asked, faults, feed, forward } = await setUp();
    const receiver = await startReceiver();
    await add(1);
    const { out, ended } = forward(receiver.url);
    await until('it waits', () => asked.length === 2);
    faults.push(responses(401, { message: 'No such key' }));
    // The event ends its wait, and the next request is refused.
    await add(1);
    expect((await ended).status).toBe(1);
    const { cursor } = await feed();
    expect(out.stderr).toMatch(new RegExp(`pass --after ${cursor}\\nhandback: [^\\n]+\\n$`));
  });
});
