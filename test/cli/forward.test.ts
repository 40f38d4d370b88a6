import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type FeedItem, feedItem, startFeedServer } from '../support/feed-server.ts';
import { freePort } from '../support/postgres-server.ts';
import { launch, temporaryFolder } from '../support/process.ts';
import { startReceiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';

const KEY = 'handback_ext_0123456789abcdef';
const SECRET = 'whsec_forwarded';

const setUp = async () => {
  const feed = await startFeedServer(KEY);
  const state = temporaryFolder();
  const env = { HANDBACK_API_KEY: KEY, HANDBACK_WEBHOOK_SECRET: SECRET, XDG_STATE_HOME: state };
  const forward = (to: string, ...args: string[]) =>
    launch(['events', '--url', feed.url, '--forward-to', to, ...args], env);
  const placeFile = () => {
    const [name = ''] = readdirSync(join(state, 'handback'));
    return join(state, 'handback', name);
  };
  return { feed, forward, placeFile };
};

const idsOf = (received: { headers: Record<string, unknown> }[]) =>
  received.map(({ headers }) => headers['x-webhook-id']);
const ids = (items: FeedItem[]) => items.map(({ id }) => id);
const bodyOf = ({ event, timestamp, data }: FeedItem) => JSON.stringify({ event, timestamp, data });

describe('events --forward-to', () => {
  it('sends each event in order, signed, with the headers and the bytes of its webhook', async () => {
    const { feed, forward } = await setUp();
    const receiver = await startReceiver();
    const items = [
      feedItem({ note: 'Zoë 👩‍🔧 \u2028' }),
      feedItem({ creditAmount: JSON.rawJSON('12345678901234567.8901') }),
      feedItem({ creditAmount: JSON.rawJSON('120.50') }),
    ];
    feed.add(...items);
    const { child, out, ended } = forward(receiver.url);
    const received = await receiver.got(3);
    expect(received.map(({ bytes }) => bytes.toString('utf8'))).toEqual(items.map(bodyOf));
    for (const [i, { headers, bytes }] of received.entries())
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        'user-agent': expect.stringMatching(/^Handback\/\d/),
        'x-webhook-signature': createHmac('sha256', SECRET).update(bytes).digest('hex'),
        'x-webhook-id': items[i]?.id,
        'x-webhook-event': items[i]?.event,
        'x-webhook-attempt': '1',
      });
    await until('it told', () => out.stdout.split('\n').length === 4);
    expect(out.stdout).toMatch(/ {2}-> 200\n/);
    child.kill('SIGTERM');
    expect(await ended).toEqual({ status: 0, signal: null });
    expect(out.stdout + out.stderr).not.toMatch(new RegExp(`${KEY}|${SECRET}`));
  });

  it('tries a receiver that is away or refuses until it takes the event, and sends none before', async () => {
    const { feed, forward } = await setUp();
    const receiver = await startReceiver((n) => (n <= 2 ? 500 : 204));
    const items = [feedItem(), feedItem()];
    feed.add(...items);
    const { out } = forward(receiver.url, '--json');
    const received = await receiver.got(4, 20_000);
    const [first, second] = ids(items);
    expect(idsOf(received)).toEqual([first, first, first, second]);
    expect(received.map(({ headers }) => headers['x-webhook-attempt'])).toEqual(['1', '2', '3', '1']);
    await until('both are told', () => out.stdout.split('\n').length === 3);
    expect(
      out.stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { ...items[0], forwarded: { statusCode: 204, attempts: 3 } },
      { ...items[1], forwarded: { statusCode: 204, attempts: 1 } },
    ]);
    expect(out.stderr).toMatch(new RegExp(`does not take \\S+ ${first}: status 500; trying again in 1 s`));
    expect(out.stderr.match(/status 500/g)).toHaveLength(1);
    expect(out.stderr).toContain('the receiver takes events again');
  });

  it('says what keeps it from a receiver that nobody is at, and ends at once all the same', async () => {
    const { feed, forward } = await setUp();
    feed.add(feedItem());
    const { child, out, ended } = forward(`http://127.0.0.1:${await freePort()}/hook`);
    await until('it told', () => /connection refused/.test(out.stderr));
    child.kill('SIGINT');
    expect(await ended).toEqual({ status: 0, signal: null });
    expect(out.stdout).toBe('');
  });
});

describe('the place of events --forward-to', () => {
  it('is kept through kill -9 in the middle of a page: the next start sends the rest, and nothing twice', async () => {
    const { feed, forward, placeFile } = await setUp();
    const items = Array.from({ length: 7 }, () => feedItem());
    feed.add(...items.slice(0, 5));
    // The third is not answered: it was not taken when the command is killed.
    const receiver = await startReceiver((n) => (n === 3 ? undefined : 200));
    const killed = forward(receiver.url);
    await receiver.got(3);
    await until('two are told', () => killed.out.stdout.split('\n').length === 3);
    killed.child.kill('SIGKILL');
    await killed.ended;
    expect(JSON.parse(readFileSync(placeFile(), 'utf8'))).toEqual({
      feed: `${feed.url}/api/v1/external/v1/events`,
      cursor: null,
      lastId: items[1]?.id,
    });

    receiver.behave(() => 200);
    const next = forward(receiver.url);
    await receiver.got(3 + 3);
    expect(next.out.stderr).toContain('going on where it was');
    await until('it waits', () => feed.asked.at(-1)?.query['after'] === 'opaque-5');
    next.child.kill('SIGINT');
    await next.ended;
    feed.add(...items.slice(5));
    forward(receiver.url);
    const received = await receiver.got(3 + 3 + 2);
    const [first, second, third, ...rest] = ids(items);
    expect(idsOf(received)).toEqual([first, second, third, third, ...rest]);
  });

  it('is in a file of its owner that holds no key, nor does its name', async () => {
    const { feed, forward, placeFile } = await setUp();
    const receiver = await startReceiver();
    feed.add(feedItem());
    forward(receiver.url);
    await receiver.got(1);
    await until('it is kept', () => readFileSync(placeFile(), 'utf8').includes('opaque-1'));
    expect(statSync(placeFile()).mode & 0o777).toBe(0o600);
    expect(placeFile() + readFileSync(placeFile(), 'utf8')).not.toContain(KEY);
    expect(placeFile()).toMatch(/events-[0-9a-f]{32}\.json$/);
  });

  it('gives way to --after', async () => {
    const { feed, forward } = await setUp();
    const receiver = await startReceiver();
    const items = [feedItem(), feedItem(), feedItem()];
    feed.add(...items.slice(0, 2));
    const first = forward(receiver.url, '--after', 'latest');
    await until('it waits', () => feed.asked.at(-1)?.query['after'] === 'opaque-2');
    first.child.kill('SIGINT');
    await first.ended;
    feed.add(...items.slice(2));
    // The newest cursor was kept before anything came.
    const second = forward(receiver.url);
    await receiver.got(1);
    await until('it waits', () => feed.asked.at(-1)?.query['after'] === 'opaque-3');
    second.child.kill('SIGINT');
    await second.ended;
    forward(receiver.url, '--after', 'opaque-1');
    await receiver.got(3);
    expect(idsOf(receiver.received)).toEqual([items[2], items[1], items[2]].map((item) => item?.id));
  });

  it('is refused where it cannot be read, and nothing is sent', async () => {
    const { feed, forward, placeFile } = await setUp();
    const receiver = await startReceiver();
    const first = forward(receiver.url, '--after', 'oldest');
    await until('it is kept', () => /place is kept/.test(first.out.stderr));
    first.child.kill('SIGINT');
    await first.ended;
    writeFileSync(placeFile(), '{"cursor":');
    feed.add(feedItem());
    const { out, ended } = forward(receiver.url);
    expect(await ended).toEqual({ status: 1, signal: null });
    expect(out.stderr).toMatch(/^handback: \S+ cannot be read: .*--after[^\n]*\n$/);
    expect(receiver.received).toEqual([]);
  });

  it('belongs to one command: two with the same key would skip what the other one has', async () => {
    const { feed, forward } = await setUp();
    const receiver = await startReceiver();
    const first = forward(receiver.url);
    await until('it waits', () => feed.asked.length >= 1);
    const second = forward(receiver.url, '--after', 'opaque-0');
    await until('the second waits', () => feed.asked.length >= 2);
    feed.add(feedItem());
    const { status } = await Promise.race([first.ended, second.ended]);
    expect(status).toBe(1);
    expect(first.out.stderr + second.out.stderr).toMatch(
      /another handback events --forward-to with the same key/,
    );
  });
});
