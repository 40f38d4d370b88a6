// engines: sqlite, postgres

import { describe, expect } from 'vitest';
import { sha256 } from '../../src/platform/secrets.ts';
import { LANES } from '../../src/staff/passwords.ts';
import { rememberAddress } from '../../src/staff/sessions.ts';
import { adminCaller, cookieFrom, deviceFrom, newPerson, newUser, PASSWORD } from '../support/admin.ts';
import { stopClock } from '../support/api.ts';
import { ONLY_SQLITE } from '../support/engines.ts';
import { itWith } from '../support/fixtures.ts';
import { type ApiResponse, type Harness, harness } from '../support/harness.ts';
import { timed } from '../support/process.ts';
import { atOnce, auditLog, repeatedly } from '../support/responses.ts';
import { factorOf } from '../support/second-factor.ts';
import { tokenIn } from '../support/smtp.ts';
import { scaled, until } from '../support/until.ts';

const it = itWith(harness);

const LOCK_MS = 15 * 60_000;
const HOUR_MS = 3_600_000;
const IP = '198.51.100.7';
const OTHER_IP = '198.51.100.8';
const address = (i: number) => `203.0.${i >> 8}.${i & 255}`;

const attempt = (t: Harness, email: string, password: string, ip?: string, device: string | null = null) =>
  adminCaller(t, device).post('/session', { email, password }, ip ? { ip } : {});
const failures = async (t: Harness, count: number, email: (i: number) => string, ip = IP) => {
  for (let i = 0; i < count; i += 1) expect(await attempt(t, email(i), 'wrong password', ip)).toFailWith(401);
};
/** Ten at once, until there are so many: strangers have ten sign-ins a second. */
const manyFailures = async (
  t: Harness,
  clock: { advance(ms: number): void },
  count: number,
  who: (i: number) => [email: string, ip: string],
) => {
  const fail = (i: number) => {
    const [email, ip] = who(i);
    return attempt(t, email, 'wrong password', ip);
  };
  for (let done = 0; done < count; done += 10) {
    clock.advance(1000);
    for (const response of await atOnce(10, (i) => fail(done + i))) expect(response).toFailWith(401);
  }
  clock.advance(1000);
};
const expectLocked = (response: ApiResponse, seconds?: number) => {
  expect(response).toFailWith(429);
  expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  if (seconds) expect(Number(response.headers.get('retry-after'))).toBe(seconds);
};

describe('ten failures for one email from one address', () => {
  it('lock that pair for 15 minutes, even for the correct password; other addresses continue', async ({
    t,
  }) => {
    const clock = stopClock();
    const { email } = await newUser(t);
    await failures(t, 9, () => email);
    clock.advance(60_000);
    await failures(t, 1, () => email);
    expectLocked(await attempt(t, email, 'wrong password', IP), 15 * 60);
    clock.advance(LOCK_MS - 1000);
    expectLocked(await attempt(t, email, PASSWORD, IP), 1);
    expectLocked(await attempt(t, email.toUpperCase(), PASSWORD, IP), 1);
    expect(await attempt(t, email, PASSWORD, OTHER_IP)).toHaveStatus(200);
    clock.advance(1000);
    expect(await attempt(t, email, PASSWORD, IP)).toHaveStatus(200);
  });

  it(
    'affect neither other users at that address nor those who are signed in',
    ONLY_SQLITE,
    async ({ t, person }) => {
      const other = await newUser(t);
      await failures(t, 10, () => person.email);
      expectLocked(await attempt(t, person.email, PASSWORD, IP));
      expect(await person.get('/session')).toHaveStatus(200);
      expect(await attempt(t, other.email, PASSWORD, IP)).toHaveStatus(200);
    },
  );

  it('do not lock out a known browser at the same address', ONLY_SQLITE, async ({ t }) => {
    const { email } = await newUser(t);
    const device = deviceFrom(await attempt(t, email, PASSWORD, IP));
    await failures(t, 10, () => email);
    expectLocked(await attempt(t, email, PASSWORD, IP));
    expect(await attempt(t, email, PASSWORD, IP, device)).toHaveStatus(200);
    // It has ten attempts of its own, and no more.
    for (let i = 0; i < 10; i += 1)
      expect(await attempt(t, email, 'wrong password', IP, device)).toFailWith(401);
    expectLocked(await attempt(t, email, PASSWORD, OTHER_IP, device));
  });

  it("in one browser lock that browser, and not the user's others", ONLY_SQLITE, async ({ t }) => {
    const { email } = await newUser(t);
    const own = deviceFrom(await attempt(t, email, PASSWORD, IP));
    const till = deviceFrom(await attempt(t, email, PASSWORD, OTHER_IP));
    expect(own.split('.')[0]).not.toBe(till.split('.')[0]);
    for (let i = 0; i < 10; i += 1)
      expect(await attempt(t, email, 'wrong password', OTHER_IP, till)).toFailWith(401);
    expectLocked(await attempt(t, email, PASSWORD, OTHER_IP, till));
    expect(await attempt(t, email, PASSWORD, undefined, own)).toHaveStatus(200);
  });

  it('are counted from zero after a success', ONLY_SQLITE, async ({ t }) => {
    const { email } = await newUser(t);
    for (let round = 0; round < 3; round += 1) {
      await failures(t, 9, () => email);
      expect(await attempt(t, email, PASSWORD, IP)).toHaveStatus(200);
    }
    await failures(t, 10, () => email);
    expectLocked(await attempt(t, email, PASSWORD, IP));
  });

  it('are forgotten after 15 minutes if there were fewer', ONLY_SQLITE, async ({ t }) => {
    const clock = stopClock();
    const { email } = await newUser(t);
    await failures(t, 9, () => email);
    clock.advance(LOCK_MS);
    await failures(t, 9, () => email);
    expect(await attempt(t, email, PASSWORD, IP)).toHaveStatus(200);
  });

  it('are the limit for parallel guesses too', async ({ t }) => {
    const { email } = await newUser(t);
    const responses = await atOnce(20, (i) => attempt(t, email, `guess number ${i}`, IP));
    expect(responses).toHaveStatuses({ 401: 10, 429: 10 });
    expectLocked(await attempt(t, email, PASSWORD, IP));
  });

  it(
    'lock an unknown email in the same way, and count an IPv6 host by its /64',
    ONLY_SQLITE,
    async ({ t }) => {
      for (let i = 0; i < 10; i += 1)
        await failures(t, 1, () => 'nobody@example.com', `2001:db8:1:2::${i + 1}`);
      expectLocked(await attempt(t, 'Nobody@example.com', PASSWORD, '2001:db8:1:2:ffff::1'));
      expect(await attempt(t, 'nobody@example.com', PASSWORD, '2001:db8:1:3::1')).toFailWith(401);
    },
  );

  it('do not lock for an hour if the clock is set back by one', async ({ t }) => {
    const { email } = await newUser(t);
    await failures(t, 10, () => email);
    expectLocked(await attempt(t, email, PASSWORD, IP));
    t.clock.advance(-HOUR_MS);
    expect(await attempt(t, email, PASSWORD, IP)).toHaveStatus(200);
  });
});

it('correct passwords all succeed, however many arrive at once for one email and from one address', async ({
  t,
}) => {
  const people = await atOnce(15, () => newUser(t));
  const emails = people.map(({ email }) => email);
  const [first = ''] = emails;
  // From a known address: unknown ones share ten sign-ins a second.
  for (const { id } of people)
    await t.ctx.db.transaction().execute((trx) => rememberAddress(t.ctx, trx, id, IP));
  await failures(t, 9, () => first);
  emails.push(...Array(14).fill(first));
  const responses = await Promise.all(emails.map((each) => attempt(t, each, PASSWORD, IP)));
  expect(responses).toHaveStatuses({ 200: 29 });
});

describe('a hundred failures', () => {
  it('for one email lock it for all unknown browsers', async ({ t, person }) => {
    const clock = stopClock();
    const { email } = person;
    const first = await attempt(t, email, PASSWORD, IP);
    const device = deviceFrom(first);
    const stranger = await newUser(t);
    const strangersDevice = deviceFrom(await attempt(t, stranger.email, PASSWORD, IP));
    await manyFailures(t, clock, 100, (i) => [email, address(i)]);

    expectLocked(await attempt(t, email, PASSWORD));
    expectLocked(await attempt(t, email, PASSWORD, undefined, strangersDevice));
    // Not the last letter, some bits of which are ignored.
    const forged = device.replace(
      /\.(.)([^.]*)$/,
      (_, first, rest) => `.${first === 'A' ? 'B' : 'A'}${rest}`,
    );
    expect(forged).not.toBe(device);
    expectLocked(await attempt(t, email, PASSWORD, undefined, forged));
    // The same browser elsewhere, another browser at the same address, and one that two people share.
    expect(await attempt(t, email, PASSWORD, undefined, device)).toHaveStatus(200);
    expect(await attempt(t, email, PASSWORD, IP)).toHaveStatus(200);
    const shared = deviceFrom(await attempt(t, stranger.email, PASSWORD, IP, device));
    expect(await attempt(t, email, PASSWORD, undefined, shared)).toHaveStatus(200);
    // A user who is signed in can still change the password.
    const change = { currentPassword: PASSWORD, newPassword: 'a better password' };
    expect(await person.put('/session/password', change)).toHaveStatus(200);
    expect(await attempt(t, stranger.email, PASSWORD)).toHaveStatus(200);
  });

  it('from one address lock it for all users who never signed in from there', ONLY_SQLITE, async ({ t }) => {
    const known = await newUser(t);
    const stranger = await newUser(t);
    const clock = stopClock();
    expect(await attempt(t, known.email, PASSWORD, IP)).toHaveStatus(200);
    // Attempts for users, whose passwords are cheap to check here, and for unknown addresses.
    const people = await atOnce(90, () => newUser(t));
    // An address without a session calls sixty times a minute.
    for (const half of [0, 50]) {
      await manyFailures(t, clock, 50, (i) => [people[half + i]?.email ?? `nobody-${i}@example.com`, IP]);
      clock.advance(60_000);
    }
    expectLocked(await attempt(t, stranger.email, PASSWORD, IP));
    expect(await attempt(t, stranger.email, PASSWORD, OTHER_IP)).toHaveStatus(200);
    expect(await attempt(t, known.email, PASSWORD, IP)).toHaveStatus(200);
  });
});

it(
  'a new password and a change of the second factor end the trust in a browser',
  ONLY_SQLITE,
  async ({ t }) => {
    const clock = stopClock();
    const [admin, user] = [await newPerson(t), await newUser(t)];
    const { email } = user;
    let password = PASSWORD;
    const signIn = (device: string, code?: string) =>
      adminCaller(t, device).post('/session', { email, password, ...(code ? { code } : {}) });
    const first = await signIn('');
    let device = deviceFrom(first);
    let self = adminCaller(t, `${cookieFrom(first)}; ${device}`);
    await manyFailures(t, clock, 100, (i) => [email, address(i)]);
    /** After this change, which may make the browser trusted again. */
    const ends = async (change: () => Promise<ApiResponse>, code?: () => string) => {
      const before = device;
      const response = await change();
      expect(response).toHaveStatus(200, 201, 204);
      clock.advance(30_000);
      expectLocked(await signIn(before, code?.()));
      const renewed = /handback_device=[^;]+/.exec(response.headers.getSetCookie().join())?.[0];
      if (!renewed) return;
      const again = await signIn(renewed, code?.());
      expect(again).toHaveStatus(200);
      device = deviceFrom(again);
      self = adminCaller(t, `${cookieFrom(again)}; ${device}`);
    };
    await ends(() => {
      const newPassword = 'chosen by themselves';
      const changing = self.put('/session/password', { currentPassword: password, newPassword });
      password = newPassword;
      return changing;
    });
    const { code } = await factorOf(t, self);
    await ends(() => self.post('/session/second-factor/confirm', { code: code() }), code);
    clock.advance(30_000);
    await ends(() => self.post('/session/second-factor/turn-off', { code: code() }));
    const token = tokenIn((await admin.post(`/users/${user.id}/link`)).body.link);
    await ends(() => {
      password = 'chosen by a link';
      return adminCaller(t, device).post('/links/use', { token, password });
    });
    await ends(() => {
      password = 'set by an Admin';
      return admin.patch(`/users/${user.id}`, { password });
    });
  },
);

it('each sign-in has an audit entry; refused ones have one per user, address and 15 minutes', async ({
  t,
}) => {
  const clock = stopClock();
  const admin = await newPerson(t);
  const user = await newUser(t, { role: 'STAFF' });
  const { email } = user;
  expect(await attempt(t, email, PASSWORD, OTHER_IP)).toHaveStatus(200);
  clock.advance(1000);
  await failures(t, 10, () => email);
  clock.advance(1000);
  for (let i = 0; i < 3; i += 1) expectLocked(await attempt(t, email, PASSWORD, IP));
  await failures(t, 2, () => email, OTHER_IP);
  clock.advance(LOCK_MS);
  await failures(t, 1, () => email);
  await failures(t, 3, () => 'unknown@example.com');
  const entries = (await auditLog(admin))
    .filter(({ subject }) => subject.id === user.id)
    .map(({ action, actor, address, data }) => [action, actor.name, address, data.count ?? '-'].join(' '));
  expect(entries.sort()).toEqual([
    `SIGNED_IN ${email} ${OTHER_IP} 1`,
    `SIGN_IN_LOCKED unknown person ${IP} 3`,
    `SIGN_IN_REFUSED unknown person ${IP} 1`,
    `SIGN_IN_REFUSED unknown person ${IP} 10`,
    `SIGN_IN_REFUSED unknown person ${OTHER_IP} 2`,
    'USER_CREATED operator  -',
  ]);
  const lines = t.logs.filter((line) => line.includes('"sign-in refused"')).map((line) => JSON.parse(line));
  expect(lines).toHaveLength(16);
  expect(lines[0]).toMatchObject({ address: IP, userId: user.id, shopId: t.shop.id });
  expect(lines.at(-1)).toMatchObject({ address: IP, userId: null, shopId: null });
  expect(t.logs.join('')).not.toContain('@example.com');
  // Neither the counters' keys nor the stored addresses can be guessed without the secret key.
  const rows = await t.ctx.db.selectFrom('sign_in_failures').select('key').execute();
  for (const guess of [
    ['address', IP],
    ['email', email],
    ['pair', email, 'address', IP],
  ])
    expect(rows.map(({ key }) => key)).not.toContain(sha256(JSON.stringify(guess)));
});

describe('a flood of sign-ins', () => {
  /** Each from another /64, all of one subscriber's /48, or each of another one's. */
  const ofOne = (i: number) => `2001:db8:7:${i.toString(16)}::1`;
  const ofMany = (i: number) => `2001:db9:${i.toString(16)}::1`;

  it.for([
    ['one /48', ofOne],
    ['many networks', ofMany],
  ] as const)(
    'from %s is refused immediately, while known users sign in and confirm their identity within a second',
    async ([, from]) => {
      const t = await harness();
      const person = await newPerson(t);
      const known = await attempt(t, person.email, PASSWORD, IP);
      const device = deviceFrom(known);
      const responses: ApiResponse[] = [];
      let sent = 0;
      const end = repeatedly(12, async () => {
        sent += 1;
        const ip = from(sent);
        const body = { email: `nobody-${sent}@example.com`, password: 'wrong' };
        responses.push(await adminCaller(t).post('/session', body, { ip, waitsForStrangers: false }));
      });
      await until('the flood is on', () => responses.length > 50);
      const slowest: number[] = [];
      for (let i = 0; i < 5; i += 1)
        for (const ask of [
          () => attempt(t, person.email, PASSWORD, from(sent + 5_000 + i), device),
          () => attempt(t, person.email, PASSWORD, IP),
          () => person.post('/session/proof', { password: PASSWORD }),
        ]) {
          const { value, ms } = await timed(ask);
          expect(value).toHaveStatus(200, 204);
          slowest.push(ms);
        }
      await end();
      // In operation this takes a second; here the flood runs in the same process.
      expect(Math.max(...slowest)).toBeLessThan(scaled(3_000));
      // Excess attempts are refused, without an error line in the log.
      for (const response of responses) {
        expect(response).toHaveStatus(401, 429, 503);
        if (response.status === 429) expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      }
      expect(t.logs.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
      expect(await t.get('/healthz')).toHaveStatus(200);
    },
  );

  it('waits in its own queue, which known users bypass', async ({ t, person }) => {
    const device = deviceFrom(await attempt(t, person.email, PASSWORD, IP));
    const release = await LANES.stranger.take();
    const stranger = attempt(t, 'nobody@example.com', 'wrong', address(1));
    const known = [
      await attempt(t, person.email, PASSWORD, address(2), device),
      await attempt(t, person.email, PASSWORD, IP),
      await person.post('/session/proof', { password: PASSWORD }),
    ];
    expect(known).toHaveStatuses([200, 200, 204]);
    release();
    expect(await stranger).toFailWith(401);
  });

  it('leaves unknown browsers ten sign-ins a second in total, and sixty a minute for a /48', async ({
    t,
  }) => {
    const clock = stopClock();
    const tried = async (count: number, from: (i: number) => string) => {
      const ask = (i: number) => attempt(t, `nobody-${i}@example.com`, 'wrong', from(i));
      // On a slow machine some of the accepted ones wait too long.
      return (await atOnce(count, ask)).filter(({ status }) => status !== 429).length;
    };
    expect(await tried(25, ofMany)).toBe(10);
    clock.advance(1000);
    let ofOneNetwork = 0;
    for (let second = 0; second < 8; second += 1) {
      ofOneNetwork += await tried(10, (i) => ofOne(100 * second + i));
      clock.advance(1000);
    }
    expect(ofOneNetwork).toBe(60);
    expect(await tried(5, (i) => ofMany(0x1000 + i))).toBe(5);
  });

  it(
    'of a user with the correct password is limited to sixty a minute, across all browsers',
    ONLY_SQLITE,
    async ({ t }) => {
      const clock = stopClock();
      const { email } = await newUser(t);
      const devices: string[] = [];
      // Each sign-in without a cookie makes another browser, with a share of its own.
      for (let i = 0; i < 5; i += 1) devices.push(deviceFrom(await attempt(t, email, PASSWORD, address(i))));
      clock.advance(60_000);
      const responses: ApiResponse[] = [];
      for (let i = 0; i < 70; i += 1)
        responses.push(await attempt(t, email, PASSWORD, address(i), devices[i % devices.length]));
      expect(responses).toHaveStatuses([...Array(60).fill(200), ...Array(10).fill(429)]);
      clock.advance(60_000);
      expect(await attempt(t, email, PASSWORD, IP, devices[0])).toHaveStatus(200);
    },
  );
});
