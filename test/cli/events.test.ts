import { describe, expect, it } from 'vitest';
import { runHere } from '../support/commands-here.ts';
import { errorAnswer, feedItem, startFeedServer } from '../support/feed-server.ts';
import { launch } from '../support/process.ts';
import { until } from '../support/until.ts';

const KEY = 'handback_ext_0123456789abcdef';

const following = (url: string, ...args: string[]) =>
  launch(['events', '--url', url, ...args], { HANDBACK_API_KEY: KEY });
type Follower = ReturnType<typeof following>;

const linesOf = ({ out }: Follower) => out.stdout.split('\n').filter(Boolean);
const gotLines = (follower: Follower, count: number) =>
  until(`${count} lines`, () => (linesOf(follower).length >= count ? linesOf(follower) : null), 20_000);

/** Ends it with Ctrl-C, and sees that it ended as it should and never showed the key. */
const endedCleanly = async ({ child, out, ended }: Follower) => {
  child.kill('SIGINT');
  expect(await ended).toEqual({ status: 0, signal: null });
  expect(out.stdout + out.stderr).not.toContain(KEY);
};

describe('events', () => {
  it('prints what is there and then what comes, a line each, until Ctrl-C', async () => {
    const feed = await startFeedServer(KEY);
    const [first, second, third] = [feedItem(), feedItem(), feedItem({ externalRef: null })];
    feed.add(first, second);
    const follower = following(feed.url);
    await gotLines(follower, 2);
    await until('it waits', () => feed.asked.length === 2);
    feed.add(third);
    const lines = await gotLines(follower, 3);
    expect(lines.map((line) => line.split(/ {2,}/))).toEqual(
      [first, second, third].map(({ id, event, timestamp, data }) => [
        ...[timestamp, event, data['rmaNumber'], data['status'], data['externalRef'] ?? '-', id],
      ]),
    );
    expect(feed.asked.map(({ query }) => query).slice(0, 2)).toEqual([
      { limit: '100', wait: '25' },
      { limit: '100', wait: '25', after: 'opaque-2' },
    ]);
    await endedCleanly(follower);
    expect(follower.out.stderr).toMatch(
      /^Following http:\S+\/api\/v1\/external\/v1\/events, starting with the oldest/,
    );
  });

  it('prints JSON lines that hold exactly what the feed has, over several pages', async () => {
    const feed = await startFeedServer(KEY);
    const items = Array.from({ length: 250 }, () => feedItem({ note: 'Zoë "citée"\n👩‍🔧' }));
    feed.add(...items);
    const follower = following(`${feed.url}/api/v1/external/v1/`, '--json');
    const lines = await gotLines(follower, 250);
    expect(lines.map((line) => JSON.parse(line))).toEqual(items);
    await endedCleanly(follower);
  });

  it('begins where --after says', async () => {
    const feed = await startFeedServer(KEY);
    const items = [feedItem(), feedItem(), feedItem()];
    feed.add(...items.slice(0, 2));
    const fromCursor = following(feed.url, '--json', '--after', 'opaque-1');
    expect(JSON.parse((await gotLines(fromCursor, 1))[0] ?? '')).toEqual(items[1]);
    await endedCleanly(fromCursor);

    const before = feed.asked.length;
    const fromNow = following(feed.url, '--json', '--after', 'latest');
    await until('it waits', () => feed.asked.length === before + 2);
    expect(feed.asked.slice(before).map(({ query }) => query)).toEqual([
      { limit: '100', after: 'latest' },
      { limit: '100', wait: '25', after: 'opaque-2' },
    ]);
    feed.add(items[2] as (typeof items)[0]);
    expect((await gotLines(fromNow, 1)).map((line) => JSON.parse(line))).toEqual([items[2]]);
    await endedCleanly(fromNow);

    const fromOldest = following(feed.url, '--json', '--after', 'oldest');
    expect((await gotLines(fromOldest, 3)).map((line) => JSON.parse(line))).toEqual(items);
    await endedCleanly(fromOldest);
  });

  it('shows no control characters of what callers wrote', async () => {
    const feed = await startFeedServer(KEY);
    feed.add(feedItem({ externalRef: '\u001b[31mred\u001b[0m\nnew \u009b2Jline\u202e' }));
    const follower = following(feed.url);
    const [line = ''] = await gotLines(follower, 1);
    expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(line).toContain('new');
    await endedCleanly(follower);
    expect(linesOf(follower)).toHaveLength(1);
  });

  it('ends when its reader has gone', async () => {
    const feed = await startFeedServer(KEY);
    feed.add(feedItem());
    const follower = following(feed.url);
    await gotLines(follower, 1);
    follower.child.stdout.destroy();
    feed.add(feedItem());
    expect(await follower.ended).toEqual({ status: 0, signal: null });
  });
});

describe('events while something is in the way', () => {
  it('waits as long as a 429 says, and says so', async () => {
    const feed = await startFeedServer(KEY);
    feed.fail(errorAnswer(429, { message: 'Too many requests' }, { 'retry-after': '2' }));
    feed.add(feedItem());
    const follower = following(feed.url);
    await until('it was told', () => /429: Too many requests; trying again in 2 s/.test(follower.out.stderr));
    await gotLines(follower, 1);
    const [refused, next] = feed.asked;
    expect((next?.at ?? 0) - (refused?.at ?? 0)).toBeGreaterThan(1_900);
    expect(follower.out.stderr).toContain('the service answers again');
    await until('it waits', () => feed.asked.length === 3);
    await endedCleanly(follower);
  });

  it('loses and repeats nothing when the service goes away and comes back', async () => {
    const feed = await startFeedServer(KEY);
    const items = [feedItem(), feedItem(), feedItem()];
    feed.add(...items.slice(0, 1));
    const follower = following(feed.url, '--json');
    await gotLines(follower, 1);
    await feed.goAway();
    await until('it noticed', () => /cannot be reached: .*; trying again in 1 s/.test(follower.out.stderr));
    feed.add(...items.slice(1));
    await feed.comeBack();
    feed.fail(errorAnswer(503), (response) => response.destroy());
    expect((await gotLines(follower, 3)).map((line) => JSON.parse(line))).toEqual(items);
    expect(follower.out.stderr).toContain('the service answers again');
    await endedCleanly(follower);
  });

  it('does not ask a service without pause that has nothing and does not wait', async () => {
    const feed = await startFeedServer(KEY);
    const nothing = errorAnswer(200, { items: [], cursor: 'opaque-0', hasMore: false });
    feed.fail(nothing, nothing, nothing);
    const start = Date.now();
    const follower = following(feed.url);
    await until('it asked four times', () => feed.asked.length >= 4);
    expect(Date.now() - start).toBeGreaterThan(1_900);
    await endedCleanly(follower);
  });

  it.each([
    {
      what: 'an expired cursor',
      fault: errorAnswer(410, { code: 'CURSOR_EXPIRED' }),
      says: /30 days.*--after latest/,
    },
    {
      what: 'a key that is not known',
      fault: errorAnswer(401, { message: `No such key: ${KEY}` }),
      says: /key/,
    },
    {
      what: 'a plan without the API',
      fault: errorAnswer(403, { message: 'Needs Scale' }),
      says: /403: Needs Scale/,
    },
    {
      what: 'a wrong cursor',
      fault: errorAnswer(400, { message: ['after is odd'] }),
      says: /400: after is odd/,
    },
    { what: 'another address', fault: errorAnswer(404), says: /no event feed at http.*--url/ },
    { what: 'a redirect', fault: errorAnswer(302, {}, { location: 'http://127.0.0.1:9/' }), says: /moved/ },
    {
      what: 'a page that is no feed',
      fault: (response: import('node:http').ServerResponse) => void response.end('<html>'),
      says: /not answer as an event feed.*--url/,
    },
  ])('gives up with one line and status 1 on $what', async ({ fault, says }) => {
    const feed = await startFeedServer(KEY);
    feed.fail(fault);
    const { status, stdout, stderr } = await runHere(['events', '--url', feed.url], {
      HANDBACK_API_KEY: KEY,
    });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^Following [^\n]+\nhandback: [^\n]+\n$/);
    expect(stderr).toMatch(says);
    expect(stderr).not.toContain(KEY);
    expect(feed.asked).toHaveLength(1);
  });
});
