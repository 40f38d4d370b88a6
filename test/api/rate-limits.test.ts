// engines: sqlite, postgres

import { describe, expect, onTestFinished } from 'vitest';
import { RATE_LIMITS } from '../../src/api/rate-limits.ts';
import { openContext } from '../../src/app/context.ts';
import { takeSlot } from '../../src/db/rate-windows.ts';
import { bodyOf, endpoints, KINDS, type Kind, makeIds, rowCounts, stopClock } from '../support/api.ts';
import { ONLY_SQLITE } from '../support/engines.ts';
import { itWith } from '../support/fixtures.ts';
import { type ApiResponse, ENGINE, type Harness, harness, type SendOptions } from '../support/harness.ts';
import { randomOf } from '../support/random.ts';
import { atOnce } from '../support/responses.ts';

const it = itWith(harness);

const IP = '198.51.100.7';
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const createOne = (t: Harness, kind: Kind, options: SendOptions = {}) =>
  t.post(`/${kind}`, bodyOf[kind](), { ip: IP, ...options });
const create = (t: Harness, options: SendOptions = {}) => createOne(t, 'offline-repairs', options);
/** Both kinds in turn. */
const createNth = (t: Harness, i: number) => createOne(t, KINDS[i % 2] as Kind);
const read = (t: Harness, options: SendOptions = {}) => t.get('/offline-repairs', { ip: IP, ...options });
/** So many at once, all answered with that status. */
const expectAll = async (count: number, status: number, ask: (i: number) => Promise<ApiResponse>) =>
  expect(await atOnce(count, ask)).toHaveStatuses({ [status]: count });
/** More at once would wait for the database longer than a request may, on a busy machine. */
const READS_AT_ONCE = 25;
const windowOf = ({ headers }: ApiResponse) =>
  ['limit', 'remaining', 'reset'].map((name) => headers.get(`ratelimit-${name}`));
const expectLimited = (response: ApiResponse, limit: string, seconds: string) => {
  expect(response).toFailWith(429);
  expect(windowOf(response)).toEqual([limit, '0', seconds]);
  expect(response.headers.get('retry-after')).toBe(seconds);
};

/** Uses up the 200 reads a minute of an address. */
const useUpReads = async (t: Harness): Promise<void> => {
  for (let used = 0; used < 200; used += READS_AT_ONCE) await expectAll(READS_AT_ONCE, 200, () => read(t));
};

describe('creations of both kinds together', () => {
  it('are limited to five a second and sixty a minute from one address', async ({ t }) => {
    const clock = stopClock();
    for (let second = 0; second < 12; second += 1) {
      // Exactly five also when more arrive at the same moment. Those that are refused use nothing of the minute.
      const responses = await atOnce(9, (i) => createNth(t, second + i));
      expect(responses).toHaveStatuses({ 201: 5, 429: 4 });
      const left = responses.map(({ status, headers }) =>
        status === 201 ? Number(headers.get('ratelimit-remaining')) : 60,
      );
      expect(Math.min(...left)).toBe(55 - 5 * second);
      const [limit, seconds] = second < 11 ? ['5', '1'] : ['60', '49'];
      for (const kind of KINDS) expectLimited(await createOne(t, kind), limit as string, seconds as string);
      clock.advance(SECOND - 1);
      expect(await create(t)).toFailWith(429);
      clock.advance(1);
    }
    const { repairs, returns } = await rowCounts(t);
    expect(repairs + returns).toBe(60);
    clock.advance(48 * SECOND - 1);
    expect(await create(t)).toFailWith(429);
    clock.advance(1);
    for (const kind of KINDS) expect(await createOne(t, kind)).toHaveStatus(201);
  });

  it('are judged the same by every process, from their times alone', async ({ t }) => {
    const clock = stopClock();
    const processes = [t.ctx];
    if (ENGINE === 'postgres') {
      const second = await openContext(t.ctx.config, t.ctx);
      onTestFinished(() => second.close());
      processes.push(second);
    }
    const gates = processes.map((ctx) => ctx.rateGate(RATE_LIMITS.create, ctx.clock));
    const random = randomOf(24);
    const model: number[] = [];
    let nowMs = 0;
    for (let call = 0; call < 600; call += 1) {
      const stepMs = random.pick([0, 0, 1, 40, 199, 200, 999, 1_000]);
      clock.advance(stepMs);
      nowMs += stepMs;
      const state = await random.pick(gates)(IP);
      const { msBeforeNext, ...expected } = takeSlot(RATE_LIMITS.create, model, nowMs);
      expect([call, state]).toEqual([
        call,
        // Floating-point times of today's size are exact to a thousandth of a millisecond.
        { ...expected, msBeforeNext: expect.closeTo(msBeforeNext, 2) },
      ]);
    }
  });

  it('also count when they fail', ONLY_SQLITE, async ({ t }) => {
    stopClock();
    await expectAll(3, 400, () => create(t, { body: {} }));
    await expectAll(2, 401, () => create(t, { key: null }));
    expect(await create(t)).toFailWith(429);
  });
});

describe('everything else', () => {
  it('is limited to two hundred requests a minute from one address, separately from creations', async ({
    t,
  }) => {
    const clock = stopClock();
    await useUpReads(t);
    for (const kind of KINDS) expectLimited(await t.get(`/${kind}`, { ip: IP }), '200', '60');
    expect(await create(t)).toHaveStatus(201);
    clock.advance(MINUTE - 1);
    expect(await read(t)).toFailWith(429);
    clock.advance(1);
    expect(await read(t)).toHaveStatus(200);
  });

  it.for([-HOUR, HOUR])(
    'is limited for as long if the clock is set by %i ms',
    ONLY_SQLITE,
    async (ms, { t }) => {
      const clock = stopClock();
      await useUpReads(t);
      clock.jump(ms);
      expectLimited(await read(t), '200', '60');
      clock.advance(MINUTE);
      expect(await read(t)).toHaveStatus(200);
    },
  );

  it(
    'shares one limit: actions, reads, the document, unknown addresses and unsupported methods',
    ONLY_SQLITE,
    async ({ t }) => {
      const ids = await makeIds(t);
      stopClock();
      const others = endpoints(t).filter(({ isCreation, isDryRun }) => !isCreation && !isDryRun);
      const asked = [
        ...others.map(
          ({ method, path, good }) =>
            () =>
              t.send(path(ids), { method, body: good, ip: IP }),
        ),
        () => t.get('/api/v1/external/v1/openapi.json', { key: null, ip: IP }),
        () => t.get('/api/v1/external/v1/nowhere', { ip: IP }),
        () => t.send('/offline-repairs', { method: 'DELETE', ip: IP }),
      ];
      for (const [index, ask] of asked.entries())
        expect(windowOf(await ask())).toEqual(['200', String(199 - index), '60']);
      await expectAll(200 - asked.length, 200, () => read(t));
      for (const ask of asked) expect(await ask()).toFailWith(429);
    },
  );
});

it('the headers are on every response and count down', ONLY_SQLITE, async ({ t }) => {
  const clock = stopClock();
  expect(windowOf(await create(t))).toEqual(['60', '59', '60']);
  clock.advance(1500);
  expect(windowOf(await create(t, { body: {} }))).toEqual(['60', '58', '59']);
  expect(windowOf(await read(t))).toEqual(['200', '199', '60']);
  clock.advance(30 * SECOND);
  expect(windowOf(await read(t, { key: null }))).toEqual(['200', '198', '30']);
  expect((await read(t)).headers.has('retry-after')).toBe(false);
});

describe('the address that a request counts for', ONLY_SQLITE, () => {
  it('is limited before the key is checked: valid and invalid keys of all shops alike', async ({ t }) => {
    const other = await t.addShop();
    stopClock();
    await expectAll(200, 401, () => read(t, { key: null }));
    for (const key of [null, t.client.apiKey, other.client.apiKey])
      expect(await read(t, { key })).toFailWith(429);
    expect(await read(t, { ip: '198.51.100.8' })).toHaveStatus(200);
  });

  interface Case {
    what: string;
    proxies?: string;
    /** What X-Forwarded-For says in the nth request of the same address. */
    same: (n: number) => string;
    /** Others that count for the same address, and one that does not. */
    also?: string[];
    other?: string;
  }
  const CASES: Case[] = [
    {
      what: 'the connection when no proxy is trusted, whatever X-Forwarded-For says',
      proxies: 'off',
      same: (n) => `203.0.113.${n}`,
    },
    {
      what: 'what the trusted proxy saw, not what its caller wrote before it',
      same: (n) => `203.0.113.${n}, ${IP}`,
      also: [IP],
      other: '203.0.113.1, 198.51.100.8',
    },
    {
      what: 'counted from the right through as many proxies as are trusted',
      proxies: '2',
      same: (n) => `203.0.113.${n}, ${IP}, 192.0.2.${n}`,
      other: '203.0.113.1, 198.51.100.8, 192.0.2.1',
    },
    {
      what: 'taken from a proxy that is trusted by its address',
      proxies: '127.0.0.0/8',
      same: () => '198.51.100.1',
      other: '198.51.100.2',
    },
    {
      what: 'not taken from a proxy whose address is not trusted',
      proxies: '192.0.2.1',
      same: () => '198.51.100.1',
      also: ['198.51.100.2'],
    },
    {
      what: 'the /64 of an IPv6 address',
      same: (n) => `2001:db8:1:2:${n}::${n}`,
      also: ['2001:0DB8:0001:0002::9'],
      other: '2001:db8:1:3::1',
    },
    {
      what: 'the IPv4 address where it is written as IPv6',
      same: () => `::ffff:${IP}`,
      also: [IP],
      other: '::ffff:198.51.100.8',
    },
    {
      what: 'the IPv4 address alone where the proxy wrote a port behind it',
      proxies: '127.0.0.0/8, 192.0.2.0/24',
      same: (n) => `${IP}:${1000 + n}, 192.0.2.1:${1000 + n}`,
      also: [IP],
    },
    {
      what: 'the IPv6 address alone where the proxy wrote a port behind it',
      proxies: '127.0.0.0/8, 192.0.2.0/24',
      same: (n) => `[2001:db8:7:7::${1000 + n}]:${1000 + n}, 192.0.2.1:${1000 + n}`,
      also: ['2001:db8:7:7::1'],
    },
    {
      what: 'the connection where the proxy sent something that is no address',
      same: (n) => `nonsense-${n}`,
    },
  ];

  it.each(CASES)('is $what', async ({ proxies = '1', same, also = [], other }) => {
    const t = await harness({ env: { TRUST_PROXY: proxies } });
    stopClock();
    await expectAll(5, 201, (n) => create(t, { ip: same(n) }));
    for (const ip of [same(9), ...also]) expect(await create(t, { ip })).toFailWith(429);
    if (other) expect(await create(t, { ip: other })).toHaveStatus(201);
  });
});

// Each process counts these in its own memory.
it(
  'requests without a key are limited to 3,000 a minute from one address, separately from the API',
  ONLY_SQLITE,
  async ({ t }) => {
    const clock = stopClock();
    const ask = (path: string) => () => t.get(path, { key: null, ip: IP, unchecked: true });
    const files = ['/docs/', '/admin/', '/admin/favicon.svg'];
    const paths = [...files, '/docs/nothing', '/nowhere', '/admin/api/nowhere'];
    for (const [index, path] of paths.entries())
      expect(windowOf(await ask(path)())).toEqual(['3000', String(2999 - index), '60']);
    const left = 3000 - paths.length;
    for (let done = 0; done < left; done += 100)
      await expectAll(Math.min(100, left - done), 200, ask('/admin/favicon.svg'));
    for (const path of [...paths, '/admin/api/openapi.json']) {
      const refused = await ask(path)();
      expect(refused).toFailWith(429);
      expect(refused.headers.get('retry-after')).toBe('60');
    }
    // Counted separately, and the operator's questions not at all.
    expect(await read(t)).toHaveStatus(200);
    for (const path of ['/healthz', '/readyz']) expect(await ask(path)()).toHaveStatus(200);
    expect(await t.get('/docs/', { key: null, unchecked: true })).toHaveStatus(200);
    clock.advance(MINUTE);
    expect(await ask('/docs/')()).toHaveStatus(200);
  },
);
