import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { errorAnswer, type FeedItem, feedItem, startFeedServer } from '../support/feed-server.ts';
import { freePort } from '../support/postgres-server.ts';
import { launch } from '../support/process.ts';
import { startReceiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';

const KEY = 'handback_ext_0123456789abcdef';
const SECRET = 'whsec_forwarded';

const setUp = async () => {
  const feed = await startFeedServer(KEY);
  const env = { HANDBACK_API_KEY: KEY, HANDBACK_WEBHOOK_SECRET: SECRET };
  const forward = (to: string, ...args: string[]) =>
    launch(['events', '--url', feed.url, '--forward-to', to, ...args], env);
  return { feed, forward };
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

  it('tries a receiver that is away or refuses until it accepts the event, and sends none before', async () => {
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
    expect(out.stderr).toMatch(new RegExp(`does not accept \\S+ ${first}: status 500; trying again in 1 s`));
    expect(out.stderr.match(/status 500/g)).toHaveLength(1);
    expect(out.stderr).toContain('the receiver accepts events again');
  });

  it('says what keeps it from a receiver that is not there, and ends at once all the same', async () => {
    const { feed, forward } = await setUp();
    feed.add(feedItem());
    const { child, out, ended } = forward(`http://127.0.0.1:${await freePort()}/hook`);
    await until('it told', () => /connection refused/.test(out.stderr));
    child.kill('SIGINT');
    expect(await ended).toEqual({ status: 0, signal: null });
    expect(out.stdout).toBe('');
  });
});

/** Ends it with Ctrl-C; gives the cursor that it prints. */
const cursorAtEnd = async ({ child, out, ended }: ReturnType<typeof launch>): Promise<string | undefined> => {
  child.kill('SIGINT');
  expect(await ended).toEqual({ status: 0, signal: null });
  return /^To go on from here, pass --after (\S+)$/m.exec(out.stderr)?.[1];
};

describe('the cursor that events --forward-to prints at its end', () => {
  it('leads to the rest, and nothing comes twice', async () => {
    const { feed, forward } = await setUp();
    const receiver = await startReceiver();
    const items = [feedItem(), feedItem(), feedItem()];
    feed.add(...items.slice(0, 2));
    const first = forward(receiver.url);
    await until('it waits', () => feed.asked.at(-1)?.query['after'] === 'opaque-2');
    const cursor = await cursorAtEnd(first);
    expect(cursor).toBe('opaque-2');
    feed.add(...items.slice(2));
    const second = forward(receiver.url, '--after', cursor as string);
    await receiver.got(3);
    expect(second.out.stderr).toContain('starting after opaque-2');
    expect(idsOf(receiver.received)).toEqual(ids(items));
  });

  it('is that before a page of which the receiver has not accepted everything', async () => {
    const { feed, forward } = await setUp();
    const items = Array.from({ length: 3 }, () => feedItem());
    feed.add(...items);
    const receiver = await startReceiver((n) => (n === 2 ? 500 : 200));
    const stopped = forward(receiver.url, '--after', 'opaque-1');
    await until('one is refused', () => /status 500/.test(stopped.out.stderr));
    // It made no page complete, so there is no other cursor than the one it was started with.
    expect(await cursorAtEnd(stopped)).toBeUndefined();
    forward(receiver.url, '--after', 'opaque-1');
    await receiver.got(4);
    const [, second, third] = ids(items);
    expect(idsOf(receiver.received)).toEqual([second, third, second, third]);
  });

  it('is the newest one after --after latest, before anything came', async () => {
    const { feed, forward } = await setUp();
    feed.add(feedItem(), feedItem());
    const follower = forward('http://127.0.0.1:9/', '--after', 'latest');
    await until('it waits', () => feed.asked.at(-1)?.query['after'] === 'opaque-2');
    expect(await cursorAtEnd(follower)).toBe('opaque-2');
  });

  it('is also there when the service refuses', async () => {
    const { feed, forward } = await setUp();
    const receiver = await startReceiver();
    feed.add(feedItem());
    const { out, ended } = forward(receiver.url);
    await until('it waits', () => feed.asked.at(-1)?.query['after'] === 'opaque-1');
    await feed.goAway();
    feed.fail(errorAnswer(401, { message: 'No such key' }));
    await feed.comeBack();
    expect(await ended).toEqual({ status: 1, signal: null });
    expect(out.stderr).toMatch(/pass --after opaque-1\nhandback: [^\n]+\n$/);
  });
});
