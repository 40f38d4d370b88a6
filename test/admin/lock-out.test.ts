import { describe, expect, it } from 'vitest';
import { adminCaller, newPerson, newUser, PASSWORD } from '../support/admin.ts';
import { expectError, stopClock } from '../support/api.ts';
import { type Harness, harness } from '../support/harness.ts';

const LOCK_MS = 15 * 60_000;
const IP = '198.51.100.7';

const attempt = (t: Harness, email: string, password: string, ip?: string) =>
  adminCaller(t).post('/session', { email, password }, ip ? { ip } : {});
const failures = async (t: Harness, count: number, email: (i: number) => string, ip?: string) => {
  for (let i = 0; i < count; i += 1) expectError(await attempt(t, email(i), 'wrong password', ip), 401);
};
const expectLocked = (answer: Awaited<ReturnType<typeof attempt>>, seconds?: number) => {
  expectError(answer, 429);
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  if (seconds) expect(Number(answer.headers.get('retry-after'))).toBe(seconds);
};

describe('ten failures for one e-mail', () => {
  it('lock it for 15 minutes, from every address and also with the right password', async () => {
    const t = await harness();
    const clock = stopClock();
    const { email } = await newUser(t);
    await failures(t, 9, () => email);
    clock.advance(60_000);
    await failures(t, 1, () => email);
    expectLocked(await attempt(t, email, 'wrong password'), 15 * 60);
    clock.advance(LOCK_MS - 1000);
    expectLocked(await attempt(t, email, PASSWORD), 1);
    expectLocked(await attempt(t, email.toUpperCase(), PASSWORD), 1);
    clock.advance(1000);
    expect((await attempt(t, email, PASSWORD)).status).toBe(200);
  });

  it('lock an e-mail that nobody has in the same way', async () => {
    const t = await harness();
    await failures(t, 10, () => 'nobody@example.com');
    expectLocked(await attempt(t, 'Nobody@example.com', PASSWORD));
  });

  it('touch neither other people nor those who are signed in', async () => {
    const t = await harness();
    const person = await newPerson(t);
    const other = await newUser(t);
    await failures(t, 10, () => person.email);
    expectLocked(await attempt(t, person.email, PASSWORD));
    expect((await person.get('/session')).status).toBe(200);
    expect((await attempt(t, other.email, PASSWORD)).status).toBe(200);
  });

  it('are counted anew after a success', async () => {
    const t = await harness();
    const { email } = await newUser(t);
    for (let round = 0; round < 3; round += 1) {
      await failures(t, 9, () => email);
      expect((await attempt(t, email, PASSWORD)).status).toBe(200);
    }
    await failures(t, 10, () => email);
    expectLocked(await attempt(t, email, PASSWORD));
  });

  it('are forgotten after 15 minutes where they were fewer', async () => {
    const t = await harness();
    const clock = stopClock();
    const { email } = await newUser(t);
    await failures(t, 9, () => email);
    clock.advance(LOCK_MS);
    await failures(t, 9, () => email);
    expect((await attempt(t, email, PASSWORD)).status).toBe(200);
  });

  it('are no more when guesses come side by side', async () => {
    const t = await harness();
    const { email } = await newUser(t);
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) => attempt(t, email, `guess number ${i}`)),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(30);
    expectLocked(await attempt(t, email, PASSWORD));
  });
});

describe('ten failures from one address', () => {
  it('lock it for 15 minutes, for every e-mail; other addresses go on', async () => {
    const t = await harness();
    const clock = stopClock();
    const { email } = await newUser(t);
    await failures(t, 10, (i) => `nobody-${i}@example.com`, IP);
    expectLocked(await attempt(t, email, PASSWORD, IP), 15 * 60);
    expectLocked(await attempt(t, 'somebody@example.com', PASSWORD, IP));
    expect((await attempt(t, email, PASSWORD)).status).toBe(200);
    clock.advance(LOCK_MS);
    expect((await attempt(t, email, PASSWORD, IP)).status).toBe(200);
  });

  it('do not come from successes, however many', async () => {
    const t = await harness();
    const people = [await newUser(t), await newUser(t), await newUser(t)];
    for (let round = 0; round < 5; round += 1)
      for (const { email } of people) expect((await attempt(t, email, PASSWORD, IP)).status).toBe(200);
    await failures(t, 9, (i) => `nobody-${i}@example.com`, IP);
    expect((await attempt(t, people[0]?.email ?? '', PASSWORD, IP)).status).toBe(200);
    await failures(t, 1, () => 'nobody@example.com', IP);
    expectLocked(await attempt(t, people[0]?.email ?? '', PASSWORD, IP));
  });

  it('do not come from attempts that were turned away', async () => {
    const t = await harness();
    const { email } = await newUser(t);
    await failures(t, 10, () => 'nobody@example.com');
    for (let i = 0; i < 12; i += 1) expectLocked(await attempt(t, 'nobody@example.com', PASSWORD, IP));
    expect((await attempt(t, email, PASSWORD, IP)).status).toBe(200);
  });

  it('count an IPv6 host by its /64', async () => {
    const t = await harness();
    for (let i = 0; i < 10; i += 1)
      await failures(t, 1, () => `nobody-${i}@example.com`, `2001:db8:1:2::${i + 1}`);
    expectLocked(await attempt(t, 'somebody@example.com', PASSWORD, '2001:db8:1:2:ffff::1'));
    expectError(await attempt(t, 'somebody@example.com', PASSWORD, '2001:db8:1:3::1'), 401);
  });
});

describe('the present password asked for at a change', () => {
  it('counts like a sign-in, so that nobody guesses it from an open session', async () => {
    const t = await harness();
    const person = await newPerson(t);
    const change = (currentPassword: string) =>
      person.put('/session/password', { currentPassword, newPassword: 'a better password' });
    for (let i = 0; i < 10; i += 1) expectError(await change(`guess number ${i}`), 400);
    const locked = await change(PASSWORD);
    expectError(locked, 429);
    expect(locked.headers.get('retry-after')).toMatch(/^\d+$/);
    expectLocked(await attempt(t, person.email, PASSWORD));
  });
});
