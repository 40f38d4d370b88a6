// engines: sqlite, postgres

import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { RATE_LIMITS } from '../../../src/api/rate-limits.ts';
import { sweep } from '../../../src/app/janitor.ts';
import { NEWEST_KEYS } from '../../../src/db/rate-windows.ts';
import type { RateState } from '../../../src/db/types.ts';
import { addressKey } from '../../../src/http/requests.ts';
import { effort, measured } from '../../support/faults.ts';
import { ENGINE, harness } from '../../support/harness.ts';
import { migratedDatabase, type ServerProcess, startAll } from '../../support/process.ts';
import { atOnce } from '../../support/responses.ts';
import { makeShop } from '../../support/shops.ts';
import { scaled } from '../../support/until.ts';

const MEGABYTE = 1024 ** 2;
const ADDRESSES = effort(2_000, 1_000_000);
const SECONDS = effort(3, 65);
/** Pause of each caller. It still sends many times the limit; in full mode it does so for a minute beside other rows. */
const EVERY_MS = effort(0, 250);

interface Timed {
  status: number;
  /** When the request had gone out, and when its response was there: it was counted somewhere between. */
  sentMs: number;
  answeredMs: number;
}

/** The most that surely passed within any window of this length, wherever it begins: sent and answered inside. */
const mostWithin = (taken: Timed[], lengthMs: number): number =>
  Math.max(
    ...taken.map(
      ({ sentMs: startMs }) =>
        taken.filter(({ sentMs, answeredMs }) => sentMs >= startMs && answeredMs < startMs + lengthMs).length,
    ),
  );

/** Creates from one address, far more often than it may, for so many seconds, at every process. */
const hammer = async (all: ServerProcess[], ip: (nth: number) => string): Promise<Timed[]> => {
  const done: Timed[] = [];
  const endMs = performance.now() + SECONDS * 1000;
  let nth = 0;
  const caller = async (server: ServerProcess) => {
    while (performance.now() < endMs) {
      nth += 1;
      const sentMs = performance.now();
      const response = await server.create({}, { ip: ip(nth) });
      expect(response).toHaveStatus(201, 429);
      done.push({ status: response.status, sentMs, answeredMs: performance.now() });
      await pause(EVERY_MS);
    }
  };
  await Promise.all(all.map((server) => atOnce(8, () => caller(server))));
  return done;
};

describe('one address', () => {
  it('never gets more than five creations a second and sixty a minute, at any process and with any claimed address', async () => {
    const env = await migratedDatabase();
    const { key } = await makeShop(env);
    const all = await startAll(env, key);
    const callers: Record<string, (nth: number) => string> = {
      'one address': () => '198.51.100.7',
      'a whole IPv6 /64': (nth) =>
        `2001:db8:1:2:${[7919, 104_729, 1, 31].map((step) => ((nth * step) % 65_536).toString(16)).join(':')}`,
      'forged headers behind a proxy': (nth) => `203.0.113.${nth % 256}, 10.9.${nth % 256}.1, 198.51.100.9`,
    };
    const hammered = await Promise.all(
      Object.entries(callers).map(async ([words, ip]) => ({ words, requests: await hammer(all, ip) })),
    );
    for (const { words, requests } of hammered) {
      const taken = requests.filter(({ status }) => status === 201);
      // It was really limited, and not shut out either.
      expect(taken.length, words).toBeGreaterThanOrEqual(5);
      expect(taken.length, words).toBeLessThan(requests.length);
      // Up to a minute: a longer time holds more, and rightly so.
      for (let second = 1; second <= Math.min(60, SECONDS); second += 1) {
        const most = mostWithin(taken, second * 1_000);
        expect(most, `${words}, ${second} s`).toBeLessThanOrEqual(Math.min(60, 5 * second));
      }
      if (words === 'one address')
        measured(
          13,
          `${requests.length} creations from one address in ${SECONDS} s: at most ${mostWithin(taken, 60_000)} accepted in any minute, at most ${mostWithin(taken, 1_000)} in any second`,
        );
    }
  });
});

describe('a great many addresses', () => {
  const addressOf = (n: number): string =>
    addressKey(`2001:${(n >> 16).toString(16)}:${(n & 65_535).toString(16)}::1`);

  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  /** What is really kept: garbage is the engine's business. */
  const heapMb = (): number => {
    collect();
    return process.memoryUsage().heapUsed / MEGABYTE;
  };

  it('use limited memory and rows', { timeout: scaled(240_000) }, async () => {
    const { ctx, clock, ...t } = await harness();
    const gate = ctx.rateGate(RATE_LIMITS.other, ctx.clock);
    const beforeMb = heapMb();
    for (let n = 0; n < ADDRESSES; n += 1_000) {
      const states: (RateState | Promise<RateState>)[] = Array.from(
        { length: Math.min(1_000, ADDRESSES - n) },
        (_, k) => gate(addressOf(n + k)),
      );
      expect((await Promise.all(states)).some(({ refused }) => refused)).toBe(false);
    }
    const moreMb = heapMb() - beforeMb;
    if (ENGINE === 'sqlite') {
      expect(await gate(addressOf(ADDRESSES - 1))).toMatchObject({ remaining: 198 });
      expect(moreMb).toBeLessThan(60);
      measured(
        13,
        `${ADDRESSES} addresses: at most ${2 * NEWEST_KEYS} of them kept, ${moreMb.toFixed(0)} MB more memory`,
      );
      return;
    }
    const rows = async () =>
      Number(
        (
          await ctx.db
            .selectFrom('rate_limits')
            .select((eb) => eb.fn.countAll().as('rows'))
            .executeTakeFirstOrThrow()
        ).rows,
      );
    expect(await rows()).toBeGreaterThanOrEqual(ADDRESSES);
    // An address that calls now is kept when the others' windows have ended.
    clock.advance(71_000);
    await gate(addressOf(1));
    await sweep(ctx);
    expect(await rows()).toBe(1);
    expect(t.logs.filter((line) => /cleanup step failed/.test(line))).toEqual([]);
    measured(13, `${ADDRESSES} addresses: as many rows, 1 left once their windows had ended`);
  });
});
