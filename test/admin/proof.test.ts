// engines: sqlite, postgres

import { describe, expect } from 'vitest';
import {
  adminCaller,
  cookieFrom,
  newPerson,
  newUser,
  PASSWORD,
  type Person,
  signInAs,
} from '../support/admin.ts';
import { rulesOf, UNKNOWN_ID } from '../support/api.ts';
import { ONLY_SQLITE } from '../support/engines.ts';
import { itWith } from '../support/fixtures.ts';
import { type ApiResponse, type Harness, harness as ownHarness, sharedHarness } from '../support/harness.ts';
import { atOnce, auditLog, pluck } from '../support/responses.ts';
import { factorOf, turnOn } from '../support/second-factor.ts';
import { mailServer } from '../support/smtp.ts';
import { until } from '../support/until.ts';

const it = itWith(sharedHarness());

const MINUTE_MS = 60_000;
const STEP_MS = 30_000;
const NEW_PASSWORD = 'chosen by a stranger';
const prove = (person: Person, proof: object = { password: PASSWORD }) =>
  person.post('/session/proof', proof);

/** An Admin who signed in some time ago, with colleagues. */
const openSession = async (t: Harness) => {
  const person = await newPerson(t);
  const colleague = await newPerson(t, { role: 'STAFF' });
  await turnOn(t, colleague);
  const client = await person.post('/clients', { name: 'Till' });
  t.clock.advance(10 * MINUTE_MS);
  return { person, colleague, clientId: client.body.id as string };
};

let emails = 0;
const anEmail = (): string => {
  emails += 1;
  return `proof-${emails}@example.com`;
};

const newUserBody = (role: string) => ({ email: anEmail(), role, password: NEW_PASSWORD });

type Opened = Awaited<ReturnType<typeof openSession>>;
/** Each needs a proof, and works with one. In this order: the last ones change what the others need. */
const GUARDED: Record<string, (opened: Opened) => Promise<ApiResponse>> = {
  'invite an Admin': ({ person }) => person.post('/users', { email: anEmail(), role: 'ADMIN' }),
  'add an Admin': ({ person }) => person.post('/users', newUserBody('ADMIN')),
  'add a person': ({ person }) => person.post('/users', newUserBody('STAFF')),
  'promote to Admin': ({ person, colleague }) => person.patch(`/users/${colleague.id}`, { role: 'ADMIN' }),
  "set another's email": ({ person, colleague }) =>
    person.patch(`/users/${colleague.id}`, { email: anEmail() }),
  "set another's password": ({ person, colleague }) =>
    person.patch(`/users/${colleague.id}`, { password: NEW_PASSWORD }),
  'make a link for another': ({ person, colleague }) => person.post(`/users/${colleague.id}/link`),
  "reset another's second factor": ({ person, colleague }) =>
    person.delete(`/users/${colleague.id}/second-factor`),
  'create a client': ({ person }) => person.post('/clients', { name: 'Mine' }),
  'change a client': ({ person, clientId }) =>
    person.patch(`/clients/${clientId}`, { webhookUrl: 'https://hooks.example.com/' }),
  'replace a client': ({ person, clientId }) => person.post(`/clients/${clientId}/replace`, {}),
  'change sign-in rules': ({ person }) => person.put('/sign-in-rules', { secondFactorRequired: false }),
  'enrol a second factor': ({ person }) => person.post('/session/second-factor'),
  // And then add the address again with a password of the stranger's choice.
  'remove a person': ({ person, colleague }) => person.delete(`/users/${colleague.id}`),
};

/** What an Admin may do for colleagues, tried on their own account. */
const changesOfOwnAccount = async (person: Person) => [
  await person.patch(`/users/${person.id}`, { password: NEW_PASSWORD, name: 'Ada' }),
  await person.patch(`/users/${person.id}`, { email: anEmail() }),
  await person.post(`/users/${person.id}/link`),
  await person.delete(`/users/${person.id}/second-factor`),
];

describe('a stolen session', () => {
  it('cannot take over the account, since every way to do so needs a proof of identity', async ({ t }) => {
    const opened = await openSession(t);
    const { person } = opened;
    const rowsBefore = await t.ctx.db.selectFrom('users').selectAll().orderBy('id').execute();
    for (const [what, act] of Object.entries(GUARDED)) {
      const response = await act(opened);
      expect(response, what).toFailWith(403, 'PROOF_REQUIRED');
    }
    const ownFactor = [await person.post('/session/second-factor/confirm', { code: '123456' })];
    for (const response of [...ownFactor, ...(await changesOfOwnAccount(person))])
      expect(response).toFailWith(403, 'PROOF_REQUIRED');
    const currentPassword = 'a guess';
    for (const [field, value] of [
      ['email', { email: anEmail() }],
      ['password', { newPassword: NEW_PASSWORD }],
    ] as const) {
      const guessed = await person.put(`/session/${field}`, { currentPassword, ...value });
      expect(rulesOf(guessed)).toEqual({ currentPassword: 'wrong' });
      expect(rulesOf(await person.put(`/session/${field}`, value))).toEqual({ currentPassword: 'required' });
    }
    expect(await t.ctx.db.selectFrom('users').selectAll().orderBy('id').execute()).toEqual(rowsBefore);

    // What stops an attack needs none.
    expect(await person.post(`/clients/${opened.clientId}/revoke`, {})).toHaveStatus(200);
  });

  it('cannot change its own account on the team page, even with a proof', async ({ t, person }) => {
    await turnOn(t, person);
    for (const response of await changesOfOwnAccount(person)) {
      expect(response).toFailWith(409, 'OWN_ACCOUNT');
      expect(response.body.message).toContain('account page');
    }
    expect((await person.get('/session')).body.user).toMatchObject({ name: null, secondFactor: true });
  });
});

describe('a proof', () => {
  it('is a sign-in or the password, and allows sensitive changes for ten minutes', async ({ t }) => {
    const opened = await openSession(t);
    const { person } = opened;
    expect(await prove(person)).toHaveStatus(204);
    for (const [what, act] of Object.entries(GUARDED))
      expect(await act(opened), what).toHaveStatus(200, 201, 204);
    t.clock.advance(9 * MINUTE_MS);
    expect(await person.post('/clients', { name: 'Desk' })).toHaveStatus(201);
    t.clock.advance(MINUTE_MS);
    expect(await person.post('/clients', { name: 'Desk' })).toFailWith(403, 'PROOF_REQUIRED');
    // Another session of the same person has a proof of its own.
    const elsewhere = await signInAs(t, person);
    expect(await elsewhere.post('/clients', { name: 'Desk' })).toHaveStatus(201);
    expect(await person.post('/clients', { name: 'Desk' })).toFailWith(403, 'PROOF_REQUIRED');
  });

  it('is checked after the role and the body', async ({ t }) => {
    const { person } = await openSession(t);
    const staff = await newPerson(t, { role: 'STAFF' });
    t.clock.advance(10 * MINUTE_MS);
    expect(rulesOf(await person.post('/clients', {}))).toEqual({ name: 'required' });
    expect(await staff.post('/clients', { name: 'Desk' })).toFailWith(403, 'ADMIN_REQUIRED');
  });

  it('does not outlast the correction of a wrong clock', async ({ t, person }) => {
    t.clock.advance(60 * MINUTE_MS);
    expect(await prove(person)).toHaveStatus(204);
    t.clock.advance(-30 * MINUTE_MS);
    expect(await person.post('/clients', { name: 'Desk' })).toFailWith(403, 'PROOF_REQUIRED');
  });

  it('can also be a code, once, but not one of a factor that is not turned on yet', async ({ t, person }) => {
    expect(rulesOf(await prove(person, { code: (await factorOf(t, person)).code() }))).toEqual({
      code: 'wrong',
    });
    const { code, recoveryCodes } = await turnOn(t, person);
    t.clock.advance(10 * MINUTE_MS);
    const [given, recovery = ''] = [code(), recoveryCodes[0]];
    expect(await prove(person, { code: given })).toHaveStatus(204);
    expect(rulesOf(await prove(person, { code: given }))).toEqual({ code: 'wrong' });
    expect(await prove(person, { code: recovery })).toHaveStatus(204);
    expect(rulesOf(await prove(person, { code: recovery }))).toEqual({ code: 'wrong' });
    // A wrong password beside a right code, and the other way round: one is enough.
    t.clock.advance(STEP_MS);
    expect(await prove(person, { password: 'wrong', code: code() })).toHaveStatus(204);
    expect(await prove(person, { password: PASSWORD, code: '000000' })).toHaveStatus(204);
    expect(rulesOf(await prove(person, {}))).toEqual({ password: 'required' });
    // It also works for one's own email and password.
    t.clock.advance(STEP_MS);
    const email = anEmail();
    expect((await person.put('/session/email', { code: code(), email })).body.user.email).toBe(email);
    t.clock.advance(STEP_MS);
    const changed = await person.put('/session/password', { code: code(), newPassword: NEW_PASSWORD });
    expect(changed).toHaveStatus(200);
    expect(await adminCaller(t, cookieFrom(changed)).post('/clients', { name: 'Desk' })).toHaveStatus(201);
  });

  it('may be wrong ten times in a session, which then ends', async ({ t, person, admin }) => {
    const { code } = await turnOn(t, person);
    t.clock.advance(STEP_MS);
    const guess = async (count: number) => {
      for (let i = 0; i < count; i += 1)
        expect(await prove(person, i % 2 ? { password: 'wrong' } : { code: '000000' })).toFailWith(400);
    };
    await guess(9);
    // A correct one resets the count.
    expect(await prove(person, { code: code() })).toHaveStatus(204);
    await guess(8);
    // Guesses at the email's and the password's form count alike.
    await person.put('/session/email', { currentPassword: 'wrong', email: anEmail() });
    await person.put('/session/password', { code: '000000', newPassword: NEW_PASSWORD });
    expect(await prove(person)).toFailWith(401);
    expect(await person.get('/session')).toFailWith(401);
    // Each leaves a trace with the address it came from.
    const refused = await auditLog(admin, 'PROOF_REFUSED');
    expect(refused.reduce((sum, { data }) => sum + data.count, 0)).toBe(19);
    for (const entry of refused)
      expect(entry).toMatchObject({ subject: { id: person.id }, address: expect.any(String) });
    expect(t.logs.join('')).toContain('proof of identity refused');
  });

  it('cannot be guessed faster in parallel', async ({ t, person }) => {
    const responses = await atOnce(30, () => prove(person, { password: 'wrong' }));
    expect(responses.filter(({ status }) => status === 400).length).toBeLessThanOrEqual(10);
    expect(await prove(person)).toFailWith(401);
    // It is not counted as a sign-in.
    await signInAs(t, person);
  });

  it('is available to a user who must set up a second factor first', async ({ t }) => {
    const [admin, person] = [await newPerson(t), await newPerson(t, { role: 'STAFF' })];
    await turnOn(t, admin);
    expect(await admin.put('/sign-in-rules', { secondFactorRequired: true })).toHaveStatus(200);
    t.clock.advance(10 * MINUTE_MS);
    expect(await person.post('/session/second-factor')).toFailWith(403, 'PROOF_REQUIRED');
    expect(await prove(person)).toHaveStatus(204);
    await turnOn(t, person);
  });
});

const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0';
const EDGE =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Safari/537.36 Edg/142.0';

describe('own sessions', () => {
  const signInFrom = async (t: Harness, email: string, userAgent: string | null, ip: string) => {
    const headers = { 'user-agent': userAgent };
    const response = await adminCaller(t).post('/session', { email, password: PASSWORD }, { headers, ip });
    return adminCaller(t, cookieFrom(response));
  };

  it('are listed with browser, address and last use', async ({ t }) => {
    const user = await newUser(t, { role: 'STAFF' });
    await newPerson(t);
    const here = await signInFrom(t, user.email, FIREFOX, '192.0.2.1');
    const others: [string | null, string | null][] = [
      [EDGE, 'Edge on macOS'],
      ['curl/8.5.0', 'curl/8.5.0'],
      [`x${'y'.repeat(5000)}`, `x${'y'.repeat(59)}`],
      ['\u00fcnknown', null],
      [null, null],
    ];
    for (const [userAgent] of others) {
      t.clock.advance(1);
      await signInFrom(t, user.email, userAgent, '2001:db8:1:2:3::4');
    }
    const { body } = await here.get('/session/sessions', { ip: '192.0.2.1' });
    expect(pluck(body.items, 'browser')).toEqual([
      ...others.map(([, browser]) => browser).reverse(),
      'Firefox on Windows',
    ]);
    expect(body.items.at(-2)).toMatchObject({ address: '2001:db8:1:2::/64', isCurrent: false });
    expect(body.items.at(-1)).toMatchObject({ address: '192.0.2.1', isCurrent: true });
    expect(JSON.stringify(body)).not.toMatch(/[0-9a-f]{64}/);
  });

  it('show where they were last used, to the minute', async ({ t }) => {
    const user = await newUser(t);
    const here = await signInFrom(t, user.email, FIREFOX, '192.0.2.1');
    const own = async (ip: string) => (await here.get('/session/sessions', { ip })).body.items[0];
    const first = await own('192.0.2.2');
    expect(first.address).toBe('192.0.2.1');
    t.clock.advance(MINUTE_MS);
    const at = t.ctx.clock.now();
    await until('the use is noted', async () => (await own('192.0.2.3')).address === '192.0.2.3');
    expect(Date.parse((await own('192.0.2.4')).lastUsedAt)).toBeGreaterThanOrEqual(at);
    expect((await own('192.0.2.4')).address).toBe('192.0.2.3');
  });

  it('are limited to twenty: one more ends the longest-unused one', async ({ t }) => {
    const user = await newUser(t, { role: 'STAFF' });
    const opened: Person[] = [];
    for (let i = 0; i < 20; i += 1) {
      opened.push(await signInAs(t, user));
      t.clock.advance(1000);
    }
    const [first, second] = opened as [Person, Person];
    t.clock.advance(MINUTE_MS);
    // Its use is recorded, so that it is not the longest-unused one.
    const usedAt = t.ctx.clock.now();
    await until('the use is noted', async () => {
      const { items } = (await first.get('/session/sessions')).body;
      return (
        items.find(({ isCurrent }: { isCurrent: boolean }) => isCurrent).lastUsedAt >=
        new Date(usedAt).toISOString()
      );
    });
    const last = await signInAs(t, user);
    expect(await second.get('/session')).toFailWith(401, 'SIGNED_OUT');
    expect(await first.get('/session')).toHaveStatus(200);
    expect((await last.get('/session/sessions')).body.items).toHaveLength(20);
    const stored = t.ctx.db.selectFrom('sessions').select('id').where('user_id', '=', user.id);
    expect(await stored.execute()).toHaveLength(20);
    const others = await newPerson(t);
    expect(await others.get('/session')).toHaveStatus(200);
  });

  it('can be ended one by one, or all others at once, and only by their user', async ({ t }) => {
    const person = await newPerson(t, { role: 'STAFF' });
    const others = [await signInAs(t, person), await signInAs(t, person), await signInAs(t, person)];
    const stranger = await newPerson(t);
    const [first, second, third] = others as [Person, Person, Person];
    const { items } = (await first.get('/session/sessions')).body;
    const { id } = items.find((each: { isCurrent: boolean }) => each.isCurrent);
    expect(await stranger.delete(`/session/sessions/${id}`)).toFailWith(404);
    expect(await person.delete(`/session/sessions/${UNKNOWN_ID}`)).toFailWith(404);
    expect(await person.delete(`/session/sessions/${id}`)).toHaveStatus(204);
    expect(await first.get('/session')).toFailWith(401);
    expect(await second.get('/session')).toHaveStatus(200);
    expect(await person.delete(`/session/sessions/${id}`)).toFailWith(404);
    expect(await person.delete('/session/sessions')).toHaveStatus(204);
    for (const ended of [second, third]) expect(await ended.get('/session')).toFailWith(401);
    for (const kept of [person, stranger]) expect(await kept.get('/session')).toHaveStatus(200);
    expect((await person.get('/session/sessions')).body.items).toHaveLength(1);
  });
});

describe('where mails are sent', ONLY_SQLITE, () => {
  it('users get an email about each change of their account', async () => {
    const mails = await mailServer();
    const t = await ownHarness({ env: mails.env });
    const [admin, person] = [await newPerson(t), await newPerson(t, { role: 'STAFF', name: 'Grace' })];
    const path = `/users/${person.id}`;
    let seen = 0;
    const mailed = async (change: Promise<unknown>, ...expected: [to: string, sentence: string][]) => {
      await change;
      seen += expected.length;
      await mails.got(seen);
      const fresh = mails.received.slice(seen - expected.length);
      for (const [to, sentence] of expected) {
        const mail = fresh.find((each) => each.to[0] === to && each.text.includes(sentence));
        expect(mail, `${to}: ${sentence}`).toBeDefined();
        expect(mail?.text).toContain('If you did not expect this');
      }
    };
    const [old, email, next] = [person.email, anEmail(), anEmail()];
    const [left, joined] = ['no longer the address of your account', 'now the address of your account'];
    const currentPassword = PASSWORD;
    const own = { currentPassword, newPassword: NEW_PASSWORD };
    /** With a recovery code, since a code of the app is good once. */
    const on = async () => {
      const { recoveryCodes } = await turnOn(t, person);
      return recoveryCodes.map((code) => ({ code }));
    };
    let codes: { code: string }[] = [];
    const turnOff = () => person.post('/session/second-factor/turn-off', codes.pop());
    await mailed(admin.patch(path, { role: 'ADMIN' }), [old, 'Your role was changed to Admin.']);
    await mailed(admin.patch(path, { role: 'STAFF' }), [old, 'Your role was changed to Staff']);
    await mailed(admin.patch(path, { email }), [old, left], [email, joined]);
    await mailed(
      person.put('/session/email', { email: next, currentPassword }),
      [email, left],
      [next, joined],
    );
    const turningOn = on();
    await mailed(turningOn, [next, 'A second factor was turned on']);
    codes = await turningOn;
    const newCodes = person.post('/session/second-factor/recovery-codes', codes.pop());
    await mailed(newCodes, [next, 'New recovery codes were created.']);
    codes = (await newCodes).body.recoveryCodes.map((code: string) => ({ code }));
    await mailed(turnOff(), [next, 'Your second factor was turned off']);
    await mailed(on(), [next, 'A second factor was turned on']);
    await mailed(admin.delete(`${path}/second-factor`), [next, 'Your second factor was turned off']);
    await mailed(admin.patch(path, { password: NEW_PASSWORD }), [next, 'Your password was changed.']);
    await mailed(admin.put('/session/password', own), [admin.email, 'Your password was changed.']);

    // Changes of other fields, and users who never signed in, cause no mail.
    const invited = await newUser(t, { role: 'STAFF' });
    const again = await signInAs(t, { ...admin, password: NEW_PASSWORD });
    await again.patch(path, { name: 'Grace', role: 'STAFF' });
    await again.patch(`/users/${invited.id}`, { role: 'ADMIN' });
    expect(await t.ctx.mail?.finish()).toBe(true);
    expect(mails.received).toHaveLength(seen);
    expect(t.logs.join('')).not.toContain(next);
  });

  it('other users of the shop cannot use up the emails that warn a victim', async () => {
    const mails = await mailServer();
    const t = await ownHarness({ env: mails.env });
    const [staff, victim] = [await newPerson(t, { role: 'STAFF' }), await newPerson(t, { role: 'STAFF' })];
    const { recoveryCodes } = await turnOn(t, staff);
    let codes = recoveryCodes;
    const responses: ApiResponse[] = [];
    while (responses.length < 105 && codes.length > 0) {
      const code = codes.pop() ?? '000000';
      const response = await staff.post('/session/second-factor/recovery-codes', { code });
      responses.push(response);
      codes = response.body.recoveryCodes ?? codes;
    }
    // Beyond five an hour the code is used up, and nothing happens.
    expect(responses.length).toBeGreaterThan(5);
    expect(responses).toHaveStatuses(responses.map((_, i) => (i < 5 ? 200 : 429)));
    const change = { currentPassword: PASSWORD, newPassword: NEW_PASSWORD };
    expect(await victim.put('/session/password', change)).toHaveStatus(200);
    await until('the victim is warned', () =>
      mails.received.some(({ to, text }) => to[0] === victim.email && text.includes('password was changed')),
    );
  });

  it('a user can change accounts twenty times an hour, and each change is mailed', async () => {
    const mails = await mailServer();
    const t = await ownHarness({ env: mails.env });
    const [admin, other, person] = [await newPerson(t), await newPerson(t), await newPerson(t)];
    const change = (by: Person, i: number) =>
      by.patch(`/users/${person.id}`, { role: i % 2 ? 'ADMIN' : 'STAFF' });
    for (let i = 0; i < 20; i += 1) expect(await change(admin, i)).toHaveStatus(200);
    const refused = await change(admin, 20);
    expect(refused).toFailWith(429, 'RATE_LIMITED');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_000);
    // Changes without a mail still work, and so do those of other users.
    expect(await admin.patch(`/users/${person.id}`, { name: 'Grace' })).toHaveStatus(200);
    expect(await change(other, 20)).toHaveStatus(200);
    await mails.got(21);
  });
});
