// engines: sqlite, postgres

import { sql } from 'kysely';
import { describe, expect, onTestFinished } from 'vitest';
import { buildApp } from '../../src/api/app.ts';
import { openContext } from '../../src/app/context.ts';
import { readConfig } from '../../src/platform/config.ts';
import { rememberAddress } from '../../src/staff/sessions.ts';
import {
  adminCaller,
  cookieFrom,
  deviceFrom,
  newPerson,
  newUser,
  PASSWORD,
  type Person,
  signInAs,
} from '../support/admin.ts';
import { ISO, rulesOf, stopClock } from '../support/api.ts';
import { itWith } from '../support/fixtures.ts';
import { type ApiResponse, ENGINE, type Harness, harness, sharedHarness } from '../support/harness.ts';
import { exchange } from '../support/http.ts';
import { atOnce, auditLog } from '../support/responses.ts';
import { factorOf, turnOn } from '../support/second-factor.ts';
import { mailServer, tokenIn } from '../support/smtp.ts';
import { until } from '../support/until.ts';

const it = itWith(sharedHarness());

const IP = '198.51.100.7';
const STEP_MS = 30_000;
const HOUR_MS = 3_600_000;
const signIn = (t: Harness, { email, password }: Person, code?: string, ip?: string) =>
  adminCaller(t).post('/session', { email, password, ...(code ? { code } : {}) }, ip ? { ip } : {});

it('turning on the second factor needs a code of the app; then every sign-in does', async ({ t }) => {
  const clock = stopClock();
  const person = await newPerson(t);
  const elsewhere = await signInAs(t, person);
  const state = async () => (await person.get('/session/second-factor')).body;
  expect(await state()).toEqual({ isOn: false, since: null, recoveryCodesLeft: 0 });
  const confirm = (given: string) => person.post('/session/second-factor/confirm', { code: given });
  expect(await confirm('123456')).toFailWith(409, 'SECOND_FACTOR_OFF');
  const first = await factorOf(t, person);
  const { code, uri } = await factorOf(t, person);
  expect(uri).toMatch(/^otpauth:\/\/totp\/Handback:.+&issuer=Handback$/);
  // Starting does not turn it on, an earlier secret is void, and a wrong code changes nothing.
  expect(await signIn(t, person)).toHaveStatus(200);
  for (const wrong of [first.code(), 'recovery'])
    expect(rulesOf(await confirm(wrong))).toEqual({ code: 'wrong' });
  const on = await confirm(` ${code().slice(0, 3)} ${code().slice(3)} `);
  expect(on).toHaveStatus(200);
  expect(new Set(on.body.recoveryCodes).size).toBe(10);
  expect((await person.get('/session')).body.user.secondFactor).toBe(true);
  expect(await elsewhere.get('/session')).toFailWith(401);
  expect(await confirm(code())).toFailWith(409, 'SECOND_FACTOR_ON');
  expect(await person.post('/session/second-factor')).toFailWith(409, 'SECOND_FACTOR_ON');

  expect(await signIn(t, person)).toFailWith(401, 'SECOND_FACTOR_REQUIRED');
  // The code that turned it on is used.
  expect(await signIn(t, person, code())).toFailWith(401, 'SECOND_FACTOR_WRONG');
  clock.advance(STEP_MS);
  expect(await signIn(t, person, code())).toHaveStatus(200);
  expect(await signIn(t, person, code())).toFailWith(401, 'SECOND_FACTOR_WRONG');
  expect(await signIn(t, { ...person, password: 'wrong password' }, code(1))).toFailWith(401);
  expect(await signIn(t, person, code(1))).toHaveStatus(200);
  // Older than one that was used.
  expect(await signIn(t, person, code(0))).toFailWith(401, 'SECOND_FACTOR_WRONG');
  expect(await state()).toEqual({ isOn: true, since: expect.stringMatching(ISO), recoveryCodesLeft: 10 });
  const { items } = (await person.get('/users')).body;
  expect(items[0]).toMatchObject({ id: person.id, secondFactor: true });
  expect(await auditLog(person, 'SECOND_FACTOR_ON')).toHaveLength(1);
});

describe('recovery codes', () => {
  it('work once each, in any spelling, and can be replaced by new ones', async ({ t, person }) => {
    const { recoveryCodes } = await turnOn(t, person);
    const [one = '', two = '', three = ''] = recoveryCodes;
    expect(await signIn(t, person, one)).toHaveStatus(200);
    expect(await signIn(t, person, one)).toFailWith(401, 'SECOND_FACTOR_WRONG');
    expect(await signIn(t, person, ` ${two.toUpperCase().replaceAll('-', '')} `)).toHaveStatus(200);
    expect((await person.get('/session/second-factor')).body.recoveryCodesLeft).toBe(8);
    const made = await person.post('/session/second-factor/recovery-codes', { code: three });
    expect(made.body.recoveryCodes).toHaveLength(10);
    expect(await signIn(t, person, three)).toFailWith(401, 'SECOND_FACTOR_WRONG');
    expect(await signIn(t, person, made.body.recoveryCodes[0])).toHaveStatus(200);
    const [used] = await auditLog(person, 'RECOVERY_CODE_USED');
    expect(used).toMatchObject({ actor: { id: person.id }, data: { recoveryCodesLeft: 9 } });
  });

  it('and codes of the app work once, also with two processes at the same time', async ({ t, person }) => {
    const { recoveryCodes, code } = await turnOn(t, person);
    t.clock.advance(STEP_MS);
    const urls = [t.url, await secondProcess(t)];
    // From a known address: unknown ones share ten sign-ins a second.
    for (let i = 0; i < 6; i += 1)
      await t.ctx.db.transaction().execute((trx) => rememberAddress(t.ctx, trx, person.id, `203.0.113.${i}`));
    const race = (given: string): Promise<ApiResponse[]> => {
      const body = JSON.stringify({ email: person.email, password: PASSWORD, code: given });
      const headers = { 'content-type': 'application/json' };
      return atOnce(6, (i) =>
        exchange(`${urls[i % urls.length]}/admin/api/session`, {
          method: 'POST',
          headers: { ...headers, 'x-forwarded-for': `203.0.113.${i}` },
          body,
        }),
      );
    };
    expect(await race(code())).toHaveStatuses({ 200: 1, 401: 5 });
    expect(await race(recoveryCodes[0] ?? '')).toHaveStatuses({ 200: 1, 401: 5 });
  });
});

/** Another process on the same database; SQLite allows one process only. */
const secondProcess = async (t: Harness): Promise<string> => {
  if (ENGINE === 'sqlite') return t.url;
  const ctx = await openContext(readConfig(t.env), { clock: t.ctx.clock, log: t.ctx.log });
  const app = await buildApp(ctx);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(async () => {
    await app.close();
    await ctx.close();
  });
  return url;
};

describe('wrong codes', () => {
  it('lock for an hour at ten, across all unknown browsers', async ({ t, person }) => {
    const { code } = await turnOn(t, person);
    t.clock.advance(STEP_MS);
    for (let i = 0; i < 9; i += 1)
      expect(await signIn(t, person, `00000${i}`, IP)).toFailWith(401, 'SECOND_FACTOR_WRONG');
    for (let i = 0; i < 3; i += 1)
      expect(await signIn(t, person, undefined, IP)).toFailWith(401, 'SECOND_FACTOR_REQUIRED');
    expect(await signIn(t, person, 'abcd-efgh', IP)).toFailWith(401, 'SECOND_FACTOR_WRONG');
    const locked = await signIn(t, person, code(), IP);
    expect(locked).toFailWith(429);
    expect(locked.body.message).toBe('Too many wrong codes. Try again in 60 minutes.');
    expect(await signIn(t, person, code())).toFailWith(429);
    // Wrong passwords are counted elsewhere.
    expect(await signIn(t, { ...person, password: 'wrong password' })).toFailWith(401);
  });

  it("are limited to ten an hour and fifty a day, and the user's own browsers continue", async () => {
    const mails = await mailServer();
    const t = await harness({ env: mails.env });
    const clock = stopClock();
    const person = await newPerson(t);
    const { code } = await turnOn(t, person);
    const device = async (given: string, cookie: string | null = null) =>
      adminCaller(t, cookie).post('/session', { email: person.email, password: PASSWORD, code: given });
    clock.advance(STEP_MS);
    const own = deviceFrom(await device(code()));
    expect(own).toMatch(/^handback_device=/);
    const guess = (count: number) => atOnce(count, (i) => device(`${100000 + i}`));
    /** Strangers have ten sign-ins a second. */
    const guessFor = async (count: number) => {
      const first = await guess(8);
      clock.advance(1000);
      return [...first, ...(await guess(count - 8))];
    };
    for (let hour = 0; hour < 5; hour += 1) {
      // Concurrently, each from its own address.
      expect(await guessFor(15)).toHaveStatuses({ 401: 10, 429: 5 });
      const locked = await device(code());
      expect(locked).toFailWith(429);
      if (hour < 4) expect(locked.headers.get('retry-after')).toBe('3600');
      clock.advance(HOUR_MS);
    }
    const locked = await device(code());
    expect(locked).toFailWith(429);
    expect(locked.headers.get('retry-after')).toBe(String(23 * 3600));
    expect(locked.body.message).toBe('Too many wrong codes. Try again in 23 hours.');
    const signedIn = await device(code(), own);
    expect(signedIn.body.user.passwordExposedAt).toMatch(ISO);
    const warnings = () => mails.received.filter(({ text }) => text.includes('someone knows your password'));
    const mail = await until('the mail comes', () => warnings()[0]);
    expect(mail.to).toEqual([person.email]);
    // A new password ends the warning, and the trust in the browser.
    const self = adminCaller(t, cookieFrom(signedIn));
    const password = 'a better password';
    clock.advance(STEP_MS);
    const changed = await self.put('/session/password', { code: code(), newPassword: password });
    expect(changed.body.user.passwordExposedAt).toBeNull();
    clock.advance(23 * HOUR_MS);
    expect(await signIn(t, { ...person, password }, code())).toHaveStatus(200);
    expect(warnings()).toHaveLength(1);
  });

  it('are counted in one audit entry per address and 15 minutes', async ({ t, person }) => {
    await turnOn(t, person);
    for (let i = 0; i < 3; i += 1) await signIn(t, person, `00000${i}`, IP);
    expect(await auditLog(person, 'SIGN_IN_CODE_REFUSED')).toMatchObject([
      { subject: { id: person.id }, address: IP, data: { count: 3 } },
    ]);
  });

  it('are all codes if the secret cannot be opened; recovery codes and a reset still work', async ({ t }) => {
    const [admin, person] = [await newPerson(t), await newPerson(t, { role: 'STAFF' })];
    const { recoveryCodes, code } = await turnOn(t, person);
    await sql`update users set factor_secret = 'damaged' where id = ${person.id}`.execute(t.ctx.db);
    t.clock.advance(STEP_MS);
    expect(await signIn(t, person, code())).toFailWith(401, 'SECOND_FACTOR_WRONG');
    expect(await signIn(t, person, recoveryCodes[0])).toHaveStatus(200);
    expect(await admin.delete(`/users/${person.id}/second-factor`)).toHaveStatus(204);
    expect(await signIn(t, person)).toHaveStatus(200);
  });

  it('do not lock any longer after a wrong clock is corrected', async ({ t, person }) => {
    const { code } = await turnOn(t, person);
    t.clock.advance(3_600_000);
    expect(await signIn(t, person, code())).toHaveStatus(200);
    t.clock.advance(-3_600_000);
    const next = code(1);
    expect(await signIn(t, person, next)).toHaveStatus(200);
    expect(await signIn(t, person, next)).toFailWith(401, 'SECOND_FACTOR_WRONG');
  });
});

describe('turning it off', () => {
  it('lets the password alone sign in again', async ({ t, person }) => {
    const off = (code = '123456') => person.post('/session/second-factor/turn-off', { code });
    expect(await off()).toFailWith(409, 'SECOND_FACTOR_OFF');
    const { recoveryCodes } = await turnOn(t, person);
    expect(await off(recoveryCodes[1])).toHaveStatus(204);
    expect(await signIn(t, person)).toHaveStatus(200);
    expect(await signIn(t, { ...person, password: 'x' }, recoveryCodes[0])).toFailWith(401);
  });

  it('needs a code, like new recovery codes and a new password: a password alone is never enough', async ({
    t,
    person,
  }) => {
    const { code, recoveryCodes } = await turnOn(t, person);
    const newPassword = 'a better password';
    const ways = (given: object) => [
      () => person.post('/session/second-factor/recovery-codes', given),
      () => person.put('/session/password', { newPassword, currentPassword: PASSWORD, ...given }),
      () => person.post('/session/second-factor/turn-off', given),
    ];
    const refusedAll = async (given: object, rule: string) => {
      for (const way of ways(given)) expect(rulesOf(await way())).toEqual({ code: rule });
    };
    // Right after the sign-in, after ten minutes, and right after a proof with the password.
    await refusedAll({}, 'required');
    t.clock.advance(10 * 60_000);
    await refusedAll({}, 'required');
    expect(await person.post('/session/proof', { password: PASSWORD })).toHaveStatus(204);
    await refusedAll({}, 'required');
    await refusedAll({ code: '000000' }, 'wrong');
    expect((await person.get('/session')).body.user.secondFactor).toBe(true);

    const [again, change] = ways({ code: code() });
    const made = (await again?.()) as ApiResponse;
    expect(made).toHaveStatus(200);
    expect(rulesOf((await change?.()) as ApiResponse)).toEqual({ code: 'wrong' });
    const [one = '', two = ''] = made.body.recoveryCodes;
    expect(recoveryCodes).not.toContain(one);
    const changed = await person.put('/session/password', { code: one, newPassword });
    expect(changed).toHaveStatus(200);
    const off = adminCaller(t, cookieFrom(changed)).post('/session/second-factor/turn-off', { code: two });
    expect(await off).toHaveStatus(204);
  });

  it('for a colleague signs them out and adds an audit entry', async ({ t, admin }) => {
    const person = await newPerson(t, { role: 'STAFF' });
    await turnOn(t, person);
    const path = `/users/${person.id}/second-factor`;
    expect(await admin.delete(path)).toHaveStatus(204);
    expect(await person.get('/session')).toFailWith(401);
    expect(await signIn(t, person)).toHaveStatus(200);
    expect(await admin.delete(path)).toHaveStatus(204);
    expect(await auditLog(admin, 'SECOND_FACTOR_RESET')).toHaveLength(1);
  });
});

it('a shop that requires a second factor refuses everything else until a user has one', async ({
  t,
  admin,
  stranger,
}) => {
  const person = await newPerson(t, { role: 'STAFF' });
  await turnOn(t, admin);
  expect((await admin.get('/sign-in-rules')).body).toEqual({ secondFactorRequired: false });
  const required = { secondFactorRequired: true };
  for (let i = 0; i < 2; i += 1) expect((await admin.put('/sign-in-rules', required)).body).toEqual(required);
  const data = { secondFactorRequired: { from: false, to: true } };
  expect(await auditLog(admin, 'SHOP_CHANGED')).toMatchObject([{ data }]);

  const session = { user: { secondFactor: false }, shop: required };
  expect((await person.get('/session')).body).toMatchObject(session);
  const refused = [
    await person.get('/offline-repairs'),
    await person.get('/users'),
    await person.put('/session/password', { currentPassword: PASSWORD, newPassword: 'a better password' }),
  ];
  for (const response of refused) expect(response).toFailWith(403, 'SET_UP_SECOND_FACTOR');
  expect(await person.get('/session/second-factor')).toHaveStatus(200);
  await turnOn(t, person);
  expect(await person.get('/offline-repairs')).toHaveStatus(200);
  expect(await person.get('/users')).toFailWith(403, 'ADMIN_REQUIRED');
  expect(await admin.get('/users')).toHaveStatus(200);
  // Another shop is not affected.
  expect(await stranger.get('/offline-repairs')).toHaveStatus(200);
});

it('a link to choose a password also asks for a code, and stays valid until it is given', async ({
  t,
  admin,
}) => {
  const user = await newUser(t, { role: 'STAFF' });
  const person = await signInAs(t, user);
  const { code } = await turnOn(t, person);
  t.clock.advance(STEP_MS);
  const token = tokenIn((await admin.post(`/users/${user.id}/link`)).body.link);
  const use = (given: string | null): Promise<ApiResponse> =>
    adminCaller(t).post('/links/use', { token, password: 'a better password', code: given }, { ip: IP });
  expect((await adminCaller(t).post('/links/check', { token })).body.secondFactor).toBe(true);
  expect(await use(null)).toFailWith(401, 'SECOND_FACTOR_REQUIRED');
  expect(await use('000000')).toFailWith(401, 'SECOND_FACTOR_WRONG');
  expect(await person.get('/session')).toHaveStatus(200);
  const used = await use(code());
  expect(used).toHaveStatus(200);
  expect(await adminCaller(t, cookieFrom(used)).get('/offline-repairs')).toHaveStatus(200);

  const next = tokenIn((await admin.post(`/users/${user.id}/link`)).body.link);
  const guess = () =>
    adminCaller(t).post('/links/use', { token: next, password: PASSWORD, code: '000000' }, { ip: IP });
  // One was wrong before.
  for (let i = 0; i < 9; i += 1) expect(await guess()).toFailWith(401, 'SECOND_FACTOR_WRONG');
  expect(await guess()).toFailWith(429);
});
