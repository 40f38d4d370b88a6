import { describe, expect, onTestFinished } from 'vitest';
import { RATE_LIMITS } from '../../src/api/rate-limits.ts';
import { judge } from '../../src/db/rate-windows.ts';
import { openContext } from '../../src/service/context.ts';
import {
  bodyOf,
  endpoints,
  expectError,
  KINDS,
  type Kind,
  makeIds,
  rowCounts,
  stopClock,
} from '../support/api.ts';
import { itWith } from '../support/fixtures.ts';
import { type Answer, ENGINE, type Harness, harness, type SendOptions } from '../support/harness.ts';
import { randomOf } from '../support/random.ts';

const it = itWith(harness);

const IP = '198.51.100.7';
const SECOND = 1000;
const MINUTE = 60 * SECOND;

const createOne = (t: Harness, kind: Kind, options: SendOptions = {}) =>
  t.post(`/${kind}`, bodyOf[kind](), { ip: IP, ...options });
const create = (t: Harness, options: SendOptions = {}) => createOne(t, 'offline-repairs', options);
const read = (t: Harness, options: SendOptions = {}) => t.get('/offline-repairs', { ip: IP, ...options });
const times = async (count: number, ask: () => Promise<Answer>): Promise<number[]> =>
  (await Promise.all(Array.from({ length: count }, ask))).map(({ status }) => status);
const repeated = (count: number, status: number): number[] => Array.from({ length: count }, () => status);
const windowOf = ({ headers }: Answer) =>
  ['limit', 'remaining', 'reset'].map((name) => headers.get(`ratelimit-${name}`));

/** Uses up the 200 reads a minute of an address. */
const useUpReads = async (t: Harness, options: SendOptions = {}) =>
  expect(await times(200, () => read(t, options))).toEqual(repeated(200, 200));

describe('creations', () => {
  it('are taken five a second from one address', async ({ t }) => {
    const clock = stopClock();
    expect(await times(5, () => create(t))).toEqual(repeated(5, 201));
    const refused = await create(t);
    expectError(refused, 429);
    expect(windowOf(refused)).toEqual(['5', '0', '1']);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await rowCounts(t)).repairs).toBe(5);

    clock.advance(SECOND - 1);
    expectError(await create(t), 429);
    clock.advance(1);
    expect(await times(5, () => create(t))).toEqual(repeated(5, 201));
    expectError(await create(t), 429);
  });

  it('are exactly five when more arrive at the same moment', async ({ t }) => {
    stopClock();
    const answers = await times(25, () => create(t));
    expect(answers.filter((status) => status === 201)).toHaveLength(5);
    expect(answers.filter((status) => status === 429)).toHaveLength(20);
    expect((await rowCounts(t)).repairs).toBe(5);
  });

  it('are taken sixty a minute from one address, whatever the second allows', async ({ t }) => {
    const clock = stopClock();
    for (let second = 0; second < 12; second += 1) {
      expect(await times(5, () => create(t))).toEqual(repeated(5, 201));
      clock.advance(SECOND);
    }
    const refused = await create(t);
    expectError(refused, 429);
    expect(windowOf(refused)).toEqual(['60', '0', '48']);
    expect(refused.headers.get('retry-after')).toBe('48');

    clock.advance(48 * SECOND - 1);
    expectError(await create(t), 429);
    clock.advance(1);
    expect((await create(t)).status).toBe(201);
  });

  it('around the end of a minute are no more than sixty in any minute, and no more than five in any second', async ({
    t,
  }) => {
    const clock = stopClock();
    const taken: number[] = [];
    let nowMs = 0;
    const tryUntil = async (untilMs: number, stepMs: number) => {
      for (; nowMs < untilMs; nowMs += stepMs, clock.advance(stepMs))
        for (const status of await times(2, () => create(t))) if (status === 201) taken.push(nowMs);
    };
    await tryUntil(1, 1);
    clock.advance(45_000 - nowMs);
    nowMs = 45_000;
    await tryUntil(75_000, 250);
    const mostWithin = (ms: number) =>
      Math.max(...taken.map((from) => taken.filter((at) => at >= from && at < from + ms).length));
    expect([mostWithin(MINUTE), mostWithin(SECOND)]).toEqual([60, 5]);
  });

  it('are judged alike by every process, and by the times alone', async ({ t }) => {
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
      const { msBeforeNext, ...expected } = judge(RATE_LIMITS.create, model, nowMs);
      expect([call, state]).toEqual([
        call,
        // Floating-point times of today's size are exact to a thousandth of a millisecond.
        { ...expected, msBeforeNext: expect.closeTo(msBeforeNext, 2) },
      ]);
    }
  });

  it('of both kinds count together within the second', async () => {
    for (const first of KINDS) {
      const t = await harness();
      const clock = stopClock();
      const second = KINDS.find((kind) => kind !== first) as Kind;
      expect(await times(3, () => createOne(t, first))).toEqual(repeated(3, 201));
      expect(await times(2, () => createOne(t, second))).toEqual(repeated(2, 201));
      for (const kind of KINDS) {
        const refused = await createOne(t, kind);
        expectError(refused, 429);
        expect(windowOf(refused)).toEqual(['5', '0', '1']);
        expect(refused.headers.get('retry-after')).toBe('1');
      }
      clock.advance(SECOND);
      for (const kind of KINDS) expect((await createOne(t, kind)).status).toBe(201);
    }
  });

  it('of both kinds count together within the minute', async ({ t }) => {
    const clock = stopClock();
    for (let second = 0; second < 12; second += 1) {
      const kinds = Array.from({ length: 5 }, (_, index) => KINDS[(second + index) % 2] as Kind);
      const answers = await Promise.all(kinds.map((kind) => createOne(t, kind)));
      expect(answers.map(({ status }) => status)).toEqual(repeated(5, 201));
      const left = answers.map(({ headers }) => Number(headers.get('ratelimit-remaining')));
      expect(Math.min(...left)).toBe(55 - 5 * second);
      clock.advance(SECOND);
    }
    expect(await rowCounts(t)).toMatchObject({ repairs: 30, returns: 30 });
    for (const kind of KINDS) {
      const refused = await createOne(t, kind);
      expectError(refused, 429);
      expect(windowOf(refused)).toEqual(['60', '0', '48']);
    }
    clock.advance(48 * SECOND);
    for (const kind of KINDS) expect((await createOne(t, kind)).status).toBe(201);
  });

  it('of both kinds are exactly five when more arrive at the same moment', async ({ t }) => {
    stopClock();
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, index) => createOne(t, KINDS[index % 2] as Kind)),
    );
    const taken = answers.filter(({ status }) => status === 201);
    expect(taken).toHaveLength(5);
    for (const answer of answers) if (answer.status !== 201) expectError(answer, 429);
    const { repairs, returns } = await rowCounts(t);
    expect(repairs + returns).toBe(5);
  });

  it('that the second turns away spend nothing of the minute', async ({ t }) => {
    const clock = stopClock();
    expect(await times(5, () => create(t))).toEqual(repeated(5, 201));
    expect(await times(100, () => create(t))).toEqual(repeated(100, 429));
    clock.advance(SECOND);
    const next = await create(t);
    expect(next.status).toBe(201);
    expect(windowOf(next)).toEqual(['60', '54', '59']);
  });

  it('count also when they fail', async ({ t }) => {
    stopClock();
    expect(await times(3, () => create(t, { body: {} }))).toEqual(repeated(3, 400));
    expect(await times(2, () => create(t, { key: null }))).toEqual(repeated(2, 401));
    expectError(await create(t), 429);
  });

  it('have a count of their own: neither they nor the reads use up the other', async ({ t }) => {
    stopClock();
    await useUpReads(t);
    for (const kind of KINDS) expectError(await t.get(`/${kind}`, { ip: IP }), 429);
    expect(await times(3, () => create(t))).toEqual(repeated(3, 201));
    expect(await times(2, () => createOne(t, 'trade-returns'))).toEqual(repeated(2, 201));
    expectError(await create(t), 429);
  });
});

describe('everything else', () => {
  it('is taken two hundred times a minute from one address', async ({ t }) => {
    const clock = stopClock();
    await useUpReads(t);
    const refused = await read(t);
    expectError(refused, 429);
    expect(windowOf(refused)).toEqual(['200', '0', '60']);
    expect(refused.headers.get('retry-after')).toBe('60');

    clock.advance(MINUTE - 1);
    expectError(await read(t), 429);
    clock.advance(1);
    expect((await read(t)).status).toBe(200);
  });

  it('shares one count: actions, reads, the document, unknown addresses and wrong methods', async ({ t }) => {
    const ids = await makeIds(t);
    stopClock();
    const others = endpoints(t).filter(({ isCreation, isDryRun }) => !isCreation && !isDryRun);
    let left = 200;
    const expectCounted = (answer: Answer) => {
      left -= 1;
      expect(windowOf(answer)).toEqual(['200', String(left), '60']);
    };
    for (const { method, path, good } of others)
      expectCounted(await t.send(path(ids), { method, body: good, ip: IP }));
    expectCounted(await t.get('/api/v1/external/v1/openapi.json', { key: null, ip: IP }));
    expectCounted(await t.get('/api/v1/external/v1/nowhere', { ip: IP }));
    expectCounted(await t.send('/offline-repairs', { method: 'DELETE', ip: IP }));

    expect(await times(left, () => read(t))).toEqual(repeated(left, 200));
    for (const { method, path, good } of others)
      expectError(await t.send(path(ids), { method, body: good, ip: IP }), 429);
    expectError(await t.get('/api/v1/external/v1/openapi.json', { key: null, ip: IP }), 429);
    expectError(await t.get('/api/v1/external/v1/nowhere', { ip: IP }), 429);
    expectError(await t.send('/offline-repairs', { method: 'DELETE', ip: IP }), 429);
  });
});

describe('the headers', () => {
  it('are on every answer and count down', async ({ t }) => {
    const clock = stopClock();
    expect(windowOf(await create(t))).toEqual(['60', '59', '60']);
    clock.advance(1500);
    expect(windowOf(await create(t, { body: {} }))).toEqual(['60', '58', '59']);
    expect(windowOf(await read(t))).toEqual(['200', '199', '60']);
    clock.advance(30 * SECOND);
    expect(windowOf(await read(t, { key: null }))).toEqual(['200', '198', '30']);
    const plain = await read(t);
    expect(plain.headers.has('retry-after')).toBe(false);
  });
});

describe('the address a request counts for', () => {
  it('turns away before the key is looked at: good and bad keys alike', async ({ t }) => {
    stopClock();
    expect(await times(200, () => read(t, { key: null }))).toEqual(repeated(200, 401));
    expectError(await read(t, { key: null }), 429);
    expectError(await read(t), 429);
    expect((await read(t, { ip: '198.51.100.8' })).status).toBe(200);
  });

  it('is one for all keys and shops behind it', async ({ t }) => {
    const other = await t.addShop();
    stopClock();
    await useUpReads(t);
    expectError(await read(t, { key: other.client.apiKey }), 429);
  });

  it('is the connection when no proxy is trusted, whatever X-Forwarded-For says', async () => {
    const t = await harness({ env: { TRUST_PROXY: 'off' } });
    stopClock();
    let forged = 0;
    const fromElsewhere = () => {
      forged += 1;
      return create(t, { ip: `203.0.113.${forged}` });
    };
    expect(await times(5, fromElsewhere)).toEqual(repeated(5, 201));
    expectError(await fromElsewhere(), 429);
  });

  it('is what the trusted proxy saw, not what its caller wrote before it', async () => {
    const t = await harness({ env: { TRUST_PROXY: '1' } });
    stopClock();
    let forged = 0;
    const through = (seen: string) => () => {
      forged += 1;
      return create(t, { ip: `203.0.113.${forged}, ${seen}` });
    };
    expect(await times(5, through(IP))).toEqual(repeated(5, 201));
    expectError(await through(IP)(), 429);
    expectError(await create(t), 429);
    expect((await through('198.51.100.8')()).status).toBe(201);
  });

  it('is counted from the right through as many proxies as are trusted', async () => {
    const t = await harness({ env: { TRUST_PROXY: '2' } });
    stopClock();
    let forged = 0;
    const through = (seen: string) => () => {
      forged += 1;
      return create(t, { ip: `203.0.113.${forged}, ${seen}, 192.0.2.${forged}` });
    };
    expect(await times(5, through(IP))).toEqual(repeated(5, 201));
    expectError(await through(IP)(), 429);
    expect((await through('198.51.100.8')()).status).toBe(201);
  });

  it('is taken from proxies that are trusted by address, and from no others', async () => {
    const trusting = await harness({ env: { TRUST_PROXY: '127.0.0.0/8' } });
    const distrusting = await harness({ env: { TRUST_PROXY: '192.0.2.1' } });
    stopClock();
    for (const ip of ['198.51.100.1', '198.51.100.2']) {
      expect(await times(5, () => create(trusting, { ip }))).toEqual(repeated(5, 201));
      expectError(await create(trusting, { ip }), 429);
    }
    expect(await times(5, () => create(distrusting, { ip: '198.51.100.1' }))).toEqual(repeated(5, 201));
    expectError(await create(distrusting, { ip: '198.51.100.2' }), 429);
  });

  it('is the /64 of an IPv6 address', async ({ t }) => {
    stopClock();
    let host = 0;
    const inside = () => {
      host += 1;
      return create(t, { ip: `2001:db8:1:2:${host}::${host}` });
    };
    expect(await times(5, inside)).toEqual(repeated(5, 201));
    expectError(await inside(), 429);
    expectError(await create(t, { ip: '2001:0DB8:0001:0002::9' }), 429);
    expect((await create(t, { ip: '2001:db8:1:3::1' })).status).toBe(201);
  });

  it('is the IPv4 address where it is written as IPv6', async ({ t }) => {
    stopClock();
    expect(await times(5, () => create(t, { ip: `::ffff:${IP}` }))).toEqual(repeated(5, 201));
    expectError(await create(t), 429);
    expect((await create(t, { ip: '::ffff:198.51.100.8' })).status).toBe(201);
  });

  it('is the address alone where the proxy wrote a port behind it', async () => {
    const t = await harness({ env: { TRUST_PROXY: '127.0.0.0/8, 192.0.2.0/24' } });
    stopClock();
    let port = 1000;
    const through = (entry: (port: number) => string) => () => {
      port += 1;
      return create(t, { ip: `${entry(port)}, 192.0.2.1:${port}` });
    };
    const v4 = through((each) => `${IP}:${each}`);
    expect(await times(5, v4)).toEqual(repeated(5, 201));
    expectError(await v4(), 429);
    expectError(await create(t), 429);
    const v6 = through((each) => `[2001:db8:7:7::${each}]:${each}`);
    expect(await times(5, v6)).toEqual(repeated(5, 201));
    expectError(await v6(), 429);
    expectError(await create(t, { ip: '2001:db8:7:7::1' }), 429);
  });

  it('is the connection where the proxy sent something that is no address', async ({ t }) => {
    stopClock();
    let word = 0;
    const nonsense = () => {
      word += 1;
      return create(t, { ip: `nonsense-${word}` });
    };
    expect(await times(5, nonsense)).toEqual(repeated(5, 201));
    expectError(await nonsense(), 429);
  });
});

// Each process counts these in its own memory.
if (ENGINE === 'sqlite')
  describe('what needs no key', () => {
    it('is taken three thousand times a minute from one address, beside the API: pages, files, unknown addresses', async ({
      t,
    }) => {
      const clock = stopClock();
      const ask = (path: string) => () => t.get(path, { key: null, ip: IP, unchecked: true });
      const paths = [
        '/docs/',
        '/docs/nothing',
        '/admin/',
        '/admin/favicon.svg',
        '/nowhere',
        '/admin/api/nowhere',
      ];
      for (const [index, path] of paths.entries())
        expect(windowOf(await ask(path)())).toEqual(['3000', String(2999 - index), '60']);
      const left = 3000 - paths.length;
      for (let done = 0; done < left; done += 100)
        expect(await times(Math.min(100, left - done), ask('/admin/favicon.svg'))).not.toContain(429);
      for (const path of [...paths, '/admin/api/openapi.json']) {
        const refused = await ask(path)();
        expectError(refused, 429);
        expect(refused.headers.get('retry-after')).toBe('60');
      }
      // Counted separately, and the operator's questions not at all.
      expect((await read(t)).status).toBe(200);
      for (const path of ['/healthz', '/readyz']) expect((await ask(path)()).status).toBe(200);
      expect((await t.get('/docs/', { key: null, unchecked: true })).status).toBe(200);
      clock.advance(MINUTE);
      expect((await ask('/docs/')()).status).toBe(200);
    });
  });
