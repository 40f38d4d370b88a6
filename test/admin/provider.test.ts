// engines: sqlite, postgres

import { generateKeyPairSync } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/platform/secrets.ts';
import { isVerified } from '../../src/staff/oidc.ts';
import { adminCaller, newPerson, newUser, PASSWORD, type Person } from '../support/admin.ts';
import { UNKNOWN_ID } from '../support/api.ts';
import { ONLY_POSTGRES, ONLY_SQLITE } from '../support/engines.ts';
import { type Harness, harness } from '../support/harness.ts';
import {
  comeBack,
  leave,
  type ScriptedProvider,
  scriptedProvider,
  throughProvider,
} from '../support/identity-provider.ts';
import { auditLog, pluck } from '../support/responses.ts';
import { turnOn } from '../support/second-factor.ts';
import { mailServer, tokenIn } from '../support/smtp.ts';
import { until } from '../support/until.ts';

const MINUTE_MS = 60_000;
const GRACE = { email: 'grace@example.com', email_verified: true, name: 'Grace Muller' };

/** A service with a scripted provider, and Grace, who has an account with a password. */
const withProvider = async (env: Record<string, string> = {}) => {
  const provider = await scriptedProvider();
  const t = await harness({ env: { ...provider.env, ...env } });
  const grace = await newUser(t, { email: GRACE.email });
  return { t, provider, grace };
};

const signedIn = async (t: Harness, session: string | null) => {
  expect(session).not.toBeNull();
  const caller = adminCaller(t, session);
  return { caller, ...(await caller.get('/session')).body };
};

const seconds = (fromNowMs = 0): number => Math.floor((Date.now() + fromNowMs) / 1000);

/** Signs in through the provider as Grace. */
const enter = async (t: Harness, provider: ScriptedProvider, more: object = {}) => {
  const { said, session } = await throughProvider(t, provider, { sub: 'g1', ...GRACE, ...more });
  expect(said).toEqual({ provider: 'signed-in' });
  return signedIn(t, session);
};

const proofRequired = async (person: Pick<Person, 'post'>) =>
  (await person.post('/clients', { name: 'Till' })).body.code === 'PROOF_REQUIRED';

describe('the protocol', ONLY_SQLITE, () => {
  it('uses a code with PKCE, state and nonce, and a sealed cookie that other sites cannot set', async () => {
    const { t, provider } = await withProvider({ PUBLIC_URL: 'https://returns.example.com' });
    const response = await adminCaller(t).post('/session/oidc', {});
    const address = new URL(response.body.url);
    expect(Object.fromEntries(address.searchParams)).toMatchObject({
      response_type: 'code',
      client_id: 'handback',
      redirect_uri: 'https://returns.example.com/admin/api/session/oidc/callback',
      scope: 'openid email profile',
      code_challenge_method: 'S256',
      state: expect.stringMatching(/^.{43}$/),
      nonce: expect.stringMatching(/^.{43}$/),
    });
    const [set = ''] = response.headers.getSetCookie();
    expect(set).toMatch(
      /^__Secure-handback_provider=v1[^;]*; Max-Age=600; Path=\/admin; HttpOnly; Secure; SameSite=Lax$/,
    );
    expect(set).not.toContain(address.searchParams.get('state'));

    const cookie = set.split(';')[0] ?? '';
    const { session, response: back } = await throughProvider(
      t,
      provider,
      { sub: 'g1', ...GRACE },
      { address, cookie },
    );
    expect(session).toMatch(/^__Secure-handback_session=/);
    // The cookie has expired; the device cookie stays unchanged.
    expect(back.headers.getSetCookie().map((each) => each.split('=')[0])).toEqual([
      '__Secure-handback_provider',
      '__Secure-handback_session',
    ]);
    expect(back.headers.getSetCookie()[0]).toContain('Max-Age=0');
    const [{ authorization, body } = { authorization: '', body: new URLSearchParams() }] =
      provider.tokenRequests;
    expect(authorization).toMatch(/^Basic /);
    expect(body.get('code_verifier')).toMatch(/^.{43,}$/);
    const log = t.logs.join('\n');
    for (const secret of [
      body.get('code') ?? '',
      body.get('code_verifier') ?? '',
      'the secret of the client',
    ])
      expect(log).not.toContain(secret);
  });

  it("uses a cookie that browsers accept, however long the page's address", async () => {
    const { t, provider } = await withProvider();
    for (const [search, isKept] of [
      ['ß'.repeat(990), true],
      ['x'.repeat(4_980), false],
    ] as const) {
      const to = `/repairs?q=${search}`;
      const departure = await leave(adminCaller(t), { to });
      expect(departure.cookie.length).toBeLessThan(4_096);
      const { said } = await throughProvider(t, provider, { sub: 'g1', ...GRACE }, departure);
      expect(said).toEqual({ provider: 'signed-in', ...(isKept ? { to } : {}) });
    }
  });

  it('is rate-limited like every call without a session', async () => {
    const { t } = await withProvider();
    const arrive = () => comeBack(t, { state: 'x' }, null, '203.0.113.7');
    for (let i = 0; i < 60; i++) expect((await arrive()).response).toHaveStatus(303);
    expect((await arrive()).response).toHaveStatus(429);
  });

  it('needs a provider', async () => {
    const t = await harness();
    const person = await newPerson(t);
    expect(await person.post('/session/oidc', {})).toFailWith(404, 'NO_PROVIDER');
    expect(await person.post('/session/oidc/proof', {})).toFailWith(404, 'NO_PROVIDER');
    expect(await person.get('/session/oidc/callback?code=1')).toFailWith(404, 'NO_PROVIDER');
    expect((await person.get('/sign-in-options')).body).toEqual({
      passwordLinks: false,
      passwords: true,
      provider: null,
    });
  });
});

// What the provider says is the same on both engines.
describe('a provider that is unavailable or responds with garbage', ONLY_SQLITE, () => {
  const cases: Record<string, (provider: ScriptedProvider) => void | Promise<void>> = {
    'is stopped': (provider) => provider.stop(),
    'never answers': (provider) => {
      provider.instead['/.well-known/openid-configuration'] = null;
    },
    'answers 500': (provider) => {
      provider.instead['/.well-known/openid-configuration'] = { status: 500, body: 'no' };
    },
    'answers HTML': (provider) => {
      provider.instead['/.well-known/openid-configuration'] = { status: 200, body: '<html>' };
    },
    'is another issuer': (provider) => {
      const body = JSON.stringify({ issuer: 'https://elsewhere.example', authorization_endpoint: 'x' });
      provider.instead['/.well-known/openid-configuration'] = { status: 200, body };
    },
    'never stops talking': (provider) => {
      const body = JSON.stringify({ issuer: provider.issuer, more: 'x'.repeat(2_000_000) });
      provider.instead['/.well-known/openid-configuration'] = { status: 200, body };
    },
  };
  it.each(Object.keys(cases))('%s: shows a message, and passwords still work', async (name) => {
    const { t, provider } = await withProvider();
    await cases[name]?.(provider);
    const response = await adminCaller(t).post('/session/oidc', {});
    expect(response).toFailWith(503, 'PROVIDER_AWAY');
    expect(response.body.message).toContain('Example SSO');
    expect(t.logs.join('\n')).toContain('the identity provider cannot be used');
    const { email } = GRACE;
    expect(await adminCaller(t).post('/session', { email, password: PASSWORD })).toHaveStatus(200);
  });

  it('is asked again at the next attempt, but not after it has responded', async () => {
    const { t, provider } = await withProvider();
    const path = '/.well-known/openid-configuration';
    provider.instead[path] = { status: 503, body: '' };
    expect(await adminCaller(t).post('/session/oidc', {})).toFailWith(503, 'PROVIDER_AWAY');
    delete provider.instead[path];
    await enter(t, provider);
    provider.instead[path] = { status: 503, body: '' };
    await enter(t, provider);
    expect(provider.requests.filter((each) => each === path)).toHaveLength(2);
  });

  it('shows a message on the sign-in page if it fails on the way back', async () => {
    const { t, provider } = await withProvider();
    const back = async () => (await throughProvider(t, provider, { sub: 'g1', ...GRACE })).said;
    provider.instead['/token'] = { status: 502, body: 'bad gateway' };
    expect(await back()).toEqual({ provider: 'AWAY' });
    provider.instead['/token'] = { status: 200, body: 'nonsense' };
    expect(await back()).toEqual({ provider: 'INVALID' });
    provider.instead['/token'] = { status: 401, body: '{"error":"invalid_client"}' };
    expect(await back()).toEqual({ provider: 'INVALID' });
    expect(t.logs.join('\n')).toContain('"said":"invalid_client"');
    delete provider.instead['/token'];
    provider.instead['/jwks'] = { status: 200, body: '{"keys":[]}' };
    expect(await back()).toEqual({ provider: 'INVALID' });
  });
});

describe('an invalid response', ONLY_SQLITE, () => {
  const tokens: Record<string, (provider: ScriptedProvider) => object> = {
    'for another audience': () => ({ aud: 'another-client' }),
    'of another issuer': () => ({ iss: 'https://elsewhere.example' }),
    'of another sign-in': () => ({ nonce: 'another' }),
    'without a subject': () => ({ sub: '' }),
    'that is over': () => ({ iat: seconds(-10 * MINUTE_MS), exp: seconds(-5 * MINUTE_MS) }),
    'signed by another': (provider) => {
      provider.signingKey = generateKeyPairSync('rsa', { modulusLength: 2048 });
      return {};
    },
  };
  it.each(Object.keys(tokens))('a token %s does not sign in', async (name) => {
    const { t, provider } = await withProvider();
    const claims = { sub: 'g1', ...GRACE, ...tokens[name]?.(provider) };
    const { said, session } = await throughProvider(t, provider, claims);
    expect(said).toEqual({ provider: 'INVALID' });
    expect(session).toBeNull();
    expect(t.logs.join('\n')).not.toContain(GRACE.email);
  });

  it('a clock that is 50 seconds off is tolerated', async () => {
    const { t, provider } = await withProvider();
    await enter(t, provider, { iat: seconds(50_000), nbf: seconds(50_000), exp: seconds(90_000) });
    await enter(t, provider, { iat: seconds(-90_000), exp: seconds(-50_000) });
  });

  it.each(['iat', 'auth_time'])(
    'a token whose %s is minutes ahead does not sign in, and the log names it',
    async (name) => {
      const { t, provider } = await withProvider();
      const claims = { sub: 'g1', ...GRACE, exp: seconds(20 * MINUTE_MS), [name]: seconds(10 * MINUTE_MS) };
      const { said, session } = await throughProvider(t, provider, claims);
      expect([said, session]).toEqual([{ provider: 'INVALID' }, null]);
      expect(t.logs.join('\n')).toContain(`"wrong":"${name}"`);
      await enter(t, provider, { auth_time: seconds(50_000) });
    },
  );

  it('a state that is foreign, used, too old or without its cookie does not sign in', async () => {
    const { t, provider } = await withProvider();
    const claims = { sub: 'g1', ...GRACE };
    const expired = { said: { provider: 'EXPIRED' }, session: null };
    const first = await leave(adminCaller(t));
    const second = await leave(adminCaller(t));
    const state = first.address.searchParams.get('state') ?? '';
    const code = () => provider.codeFor(first.address, claims);
    // From another browser: an attacker's code must not sign anyone in as the attacker.
    expect(await comeBack(t, { code: code(), state }, null)).toMatchObject(expired);
    expect(await comeBack(t, { code: code(), state }, 'handback_provider=v1.forged')).toMatchObject(expired);
    expect(await comeBack(t, { code: code(), state }, second.cookie)).toMatchObject(expired);
    expect(await comeBack(t, { code: code() }, first.cookie)).toMatchObject(expired);
    const used = { code: code(), state };
    expect((await comeBack(t, used, first.cookie)).session).not.toBeNull();
    expect(await comeBack(t, used, first.cookie)).toMatchObject(expired);
    // Not even if the provider accepts a code again, or issues another.
    expect(await comeBack(t, { code: code(), state }, first.cookie)).toMatchObject(expired);
    t.clock.advance(10 * MINUTE_MS);
    expect(await comeBack(t, { code: code(), state }, first.cookie)).toMatchObject(expired);
    expect(provider.tokenRequests).toHaveLength(1);
  });

  it('a user who cancels returns to the sign-in page', async () => {
    const { t } = await withProvider();
    const { address, cookie } = await leave(adminCaller(t), { newWindow: true });
    const state = address.searchParams.get('state') ?? '';
    const { said } = await comeBack(t, { error: 'access_denied', state }, cookie);
    expect(said).toEqual({ provider: 'CANCELLED', window: 'new' });
  });
});

describe('the account of a sign-in', () => {
  it('is found by a verified email once, and by the subject from then on', async () => {
    const mails = await mailServer();
    const { t, provider, grace } = await withProvider(mails.env);
    await adminCaller(t).post('/session', { email: grace.email, password: PASSWORD });
    const first = await enter(t, provider);
    expect(first.user.id).toBe(grace.id);
    await until('she is told', () => mails.received.find(({ text }) => /linked to your account/.test(text)));
    expect(await auditLog(first.caller, 'PROVIDER_LINKED')).toMatchObject([
      { actor: { id: grace.id }, data: { issuer: provider.issuer } },
    ]);

    // Her address at the provider is given to another person.
    const moved = await enter(t, provider, { email: 'grace.muller@example.com' });
    expect(moved.user).toMatchObject({ id: grace.id, email: GRACE.email });
    const other = await throughProvider(t, provider, { sub: 'g2', ...GRACE });
    expect(other).toMatchObject({ said: { provider: 'OTHER_PERSON' }, session: null });
    expect(await auditLog(first.caller, 'PROVIDER_REFUSED')).toMatchObject([
      { subject: { id: grace.id }, data: { count: 1 } },
    ]);
    expect(pluck(await auditLog(first.caller, 'PROVIDER_LINKED'), 'action')).toHaveLength(1);
    expect(await adminCaller(t, null).get('/session')).toHaveStatus(401);
  });

  it('is found by the email of the userinfo endpoint if the token has none', ONLY_SQLITE, async () => {
    const { t, provider, grace } = await withProvider();
    provider.userinfo = { sub: 'g1', ...GRACE };
    const { session } = await throughProvider(t, provider, { sub: 'g1' });
    expect((await signedIn(t, session)).user.id).toBe(grace.id);
  });

  it.each([
    { email: GRACE.email },
    { email: GRACE.email, email_verified: false },
    { email: GRACE.email, email_verified: 'false' },
    { email_verified: true },
    { email: 'not an address', email_verified: true },
  ])('is not found by an unverified email: %o', ONLY_SQLITE, async (claims) => {
    const { t, provider } = await withProvider();
    const { said, session } = await throughProvider(t, provider, { sub: 'g1', ...claims });
    expect(said).toEqual({ provider: 'UNVERIFIED' });
    expect(session).toBeNull();
  });

  it(
    "is found by Microsoft's own claim for a verified email from Microsoft only, and never against an explicit false",
    ONLY_SQLITE,
    async () => {
      const { t, provider } = await withProvider();
      const { email } = GRACE;
      for (const claims of [{ xms_edov: true }, { email_verified: false, xms_edov: true }])
        expect((await throughProvider(t, provider, { sub: 'g1', email, ...claims })).said).toEqual({
          provider: 'UNVERIFIED',
        });
      provider.userinfo = { sub: 'g1', email, email_verified: true };
      const denied = await throughProvider(t, provider, { sub: 'g1', email, email_verified: false });
      expect(denied.said).toEqual({ provider: 'UNVERIFIED' });

      const entra = 'https://login.microsoftonline.com/0d7b7c1e-9a3e-4cc1-8c1e-5b1f0c7d2e44/v2.0';
      const isSaid = (claims: object, issuer = entra) => isVerified({ email, ...claims }, issuer);
      for (const issuer of [
        entra,
        'https://sts.windows.net/0d7b7c1e/',
        'https://shop.ciamlogin.com/0d7b/v2.0',
      ])
        expect([isSaid({ xms_edov: true }, issuer), isSaid({ xms_edov: '1' }, issuer)]).toEqual([true, true]);
      expect(isSaid({ xms_edov: true }, 'https://login.microsoftonline.com.evil.example/')).toBe(false);
      expect(isSaid({ xms_edov: true, email_verified: false })).toBe(false);
      expect(isSaid({ xms_edov: false, email_verified: true })).toBe(true);
    },
  );

  it('is neither found nor created for an address that is ASCII only in lower case', async () => {
    const { t, provider } = await withProvider();
    await newUser(t, { email: 'mark@example.com' });
    const claims = { sub: 'k1', email: 'mar\u212a@example.com', email_verified: true };
    expect((await throughProvider(t, provider, claims)).said).toEqual({ provider: 'UNKNOWN' });
    const open = await scriptedProvider();
    const more = { ...open.env, OIDC_NEW_USERS: UNKNOWN_ID, OIDC_ALLOWED_DOMAINS: 'mark.example' };
    const other = await harness({ env: more });
    (other.ctx.config.provider?.newUsers as { shopId: string }).shopId = other.shop.id;
    for (const email of ['a@mar\u212a.example', 'mar\u212a@mark.example'])
      expect((await throughProvider(other, open, { ...claims, email })).said).toEqual({
        provider: 'UNKNOWN',
      });
    const plain = { ...claims, email: 'Mark@mark.example' };
    expect((await throughProvider(other, open, plain)).said).toEqual({ provider: 'signed-in' });
  });

  it('is refused for an unknown email', ONLY_SQLITE, async () => {
    const { t, provider } = await withProvider();
    const claims = { sub: 'x', email: 'ada@example.com', email_verified: true };
    expect((await throughProvider(t, provider, claims)).said).toEqual({ provider: 'UNKNOWN' });
  });

  it('is refused for a removed user, also if they are removed during the sign-in', async () => {
    const { t, provider, grace } = await withProvider();
    const admin = await newPerson(t);
    const { caller } = await enter(t, provider);
    const departure = await leave(adminCaller(t));
    const proof = await leave(caller, { proof: true });
    expect(await admin.delete(`/users/${grace.id}`)).toHaveStatus(204);
    expect(await caller.get('/session')).toFailWith(401, 'SIGNED_OUT');
    const claims = { sub: 'g1', ...GRACE, auth_time: seconds() };
    expect((await throughProvider(t, provider, claims, departure)).said).toEqual({ provider: 'UNKNOWN' });
    const proved = await throughProvider(t, provider, claims, proof);
    expect(proved).toMatchObject({ said: { provider: 'OTHER_PERSON' }, session: null });
  });

  it('is found by email again after a change of the issuer; the operator can unlink a user', async () => {
    const { t, provider, grace } = await withProvider();
    await enter(t, provider);
    const old = { provider_issuer: 'https://before.example', provider_subject: 'b1' };
    await t.ctx.db.updateTable('users').set(old).where('id', '=', grace.id).execute();
    const { user, caller } = await enter(t, provider);
    expect(user.id).toBe(grace.id);
    expect(await auditLog(caller, 'PROVIDER_LINKED')).toHaveLength(2);
  });

  it('is created with the role Staff for a configured domain and shop', async () => {
    const provider = await scriptedProvider();
    const t = await harness({
      env: {
        ...provider.env,
        OIDC_NEW_USERS: UNKNOWN_ID,
        OIDC_ALLOWED_DOMAINS: 'example.com, b.example',
      },
    });
    const admin = await newPerson(t);
    const ada = { sub: 'a1', email: 'Ada@Example.com', email_verified: true, name: 'Ada Pereira' };
    // The shop has been deleted, which is logged.
    expect((await throughProvider(t, provider, ada)).said).toEqual({ provider: 'UNKNOWN' });
    expect(t.logs.join('\n')).toContain('"OIDC_NEW_USERS":"no such shop"');
    const newUsers = t.ctx.config.provider?.newUsers as { shopId: string };
    newUsers.shopId = t.shop.id;
    const there = await throughProvider(t, provider, ada);
    expect((await signedIn(t, there.session)).user).toMatchObject({
      email: 'ada@example.com',
      name: 'Ada Pereira',
      role: 'STAFF',
    });
    expect(await auditLog(admin, 'USER_CREATED')).toContainEqual(
      expect.objectContaining({ subject: expect.objectContaining({ name: 'ada@example.com' }) }),
    );
    const refused = async (claims: object) =>
      (await throughProvider(t, provider, { ...ada, ...claims })).said;
    expect(await refused({ sub: 'a2', email: 'ada@example.com.evil.example' })).toEqual({
      provider: 'UNKNOWN',
    });
    expect(await refused({ sub: 'a3', email: 'a@other.example' })).toEqual({ provider: 'UNKNOWN' });
    expect(await refused({ sub: 'a4', email: 'b@example.com', email_verified: false })).toEqual({
      provider: 'UNVERIFIED',
    });
    // Two at once are one account.
    const twice = { ...ada, sub: 'a5', email: 'c@b.example', name: 'c@b.example' };
    const both = await Promise.all([1, 2].map(() => throughProvider(t, provider, twice)));
    expect(both.some(({ session }) => session !== null)).toBe(true);
    const { items } = (await admin.get('/users?limit=100')).body;
    expect(items.filter(({ email }: { email: string }) => email === 'c@b.example')).toMatchObject([
      { name: null, role: 'STAFF' },
    ]);
  });
});

describe('an account that someone else may have prepared', () => {
  const BOSS = { sub: 'b1', email: 'boss@example.com', email_verified: true };
  const LATER = 'a password for later';

  it('is not linked by an address that its user chose, until an Admin confirms it', async () => {
    const { t, provider } = await withProvider();
    const admin = await newPerson(t);
    const evil = await newPerson(t, { role: 'STAFF', email: 'evil@example.com' });
    const taken = { email: BOSS.email, currentPassword: PASSWORD };
    expect(await evil.put('/session/email', taken)).toHaveStatus(200);
    const refused = await throughProvider(t, provider, BOSS);
    expect(refused).toMatchObject({ said: { provider: 'UNCONFIRMED' }, session: null });
    expect(await auditLog(admin, 'PROVIDER_REFUSED')).toMatchObject([{ subject: { id: evil.id } }]);
    // After a change back and forth it is still only the user's own claim.
    await evil.put('/session/email', { email: 'evil@example.com', currentPassword: PASSWORD });
    await evil.put('/session/email', taken);
    expect((await throughProvider(t, provider, BOSS)).said).toEqual({ provider: 'UNCONFIRMED' });

    const { items } = (await admin.get('/users')).body;
    const shown = items.find(({ id }: { id: string }) => id === evil.id);
    expect(shown).toMatchObject({ email: BOSS.email, emailConfirmed: false, providerOnly: false });
    const confirmed = await admin.patch(`/users/${evil.id}`, { email: BOSS.email });
    expect(confirmed.body.emailConfirmed).toBe(true);
    const [entry] = await auditLog(admin, 'USER_CHANGED');
    expect(entry).toMatchObject({ subject: { id: evil.id }, data: { emailConfirmed: true } });
    const { session } = await throughProvider(t, provider, BOSS);
    expect((await signedIn(t, session)).user).toMatchObject({ id: evil.id, providerOnly: true });
    // No earlier credential works, not even after a promotion.
    expect(await admin.patch(`/users/${evil.id}`, { role: 'ADMIN' })).toHaveStatus(200);
    expect(await evil.get('/users')).toFailWith(401, 'SIGNED_OUT');
    expect(await adminCaller(t).post('/session', { email: BOSS.email, password: PASSWORD })).toFailWith(
      401,
      'SIGN_IN_FAILED',
    );
  });

  it('is linked after a link that was only mailed was used, but not after one that an Admin saw', async () => {
    const mails = await mailServer();
    const { t, provider } = await withProvider(mails.env);
    const admin = await newPerson(t);
    const person = await newPerson(t, { role: 'STAFF', email: 'before@example.com' });
    await person.put('/session/email', { email: BOSS.email, currentPassword: PASSWORD });
    const shown = tokenIn((await admin.post(`/users/${person.id}/link`)).body.link);
    expect(await adminCaller(t).post('/links/use', { token: shown, password: LATER })).toHaveStatus(200);
    expect((await throughProvider(t, provider, BOSS)).said).toEqual({ provider: 'UNCONFIRMED' });

    mails.received.length = 0;
    await adminCaller(t).post('/password-links', { email: BOSS.email });
    const others = () =>
      mails.received.map(({ text }) => tokenIn(text)).filter((each) => each && each !== shown);
    const token = await until('the link comes', () => others()[0]);
    expect(await adminCaller(t).post('/links/use', { token, password: LATER })).toHaveStatus(200);
    const { session } = await throughProvider(t, provider, BOSS);
    expect((await signedIn(t, session)).user.id).toBe(person.id);
  });

  it(
    'is not linked by a link for the old address that was requested while the address changed',
    ONLY_POSTGRES,
    async () => {
      const mails = await mailServer();
      const { t } = await withProvider(mails.env);
      const [person, other] = [await newPerson(t, { email: 'before@example.com' }), await newUser(t)];
      const { db } = t.ctx;
      const waiting = async () =>
        (await sql`select 1 from pg_locks where not granted and locktype = 'transactionid'`.execute(db)).rows
          .length > 0;
      await db.transaction().execute(async (trx) => {
        const change = { email: BOSS.email, email_unconfirmed: 1 };
        await trx.updateTable('users').set(change).where('id', '=', person.id).execute();
        await adminCaller(t).post('/password-links', { email: 'before@example.com' });
        await until('the link waits for the change', waiting);
      });
      // Links are created in order: those of the other user come later.
      for (let i = 1; i <= 2; i += 1) {
        await adminCaller(t).post('/password-links', { email: other.email });
        await mails.got(i);
      }
      expect(mails.received.map(({ to }) => to[0])).toEqual([other.email, other.email]);
      const links = db.selectFrom('access_links').select('user_id').where('user_id', '=', person.id);
      expect(await links.execute()).toEqual([]);
    },
  );

  it('is linked after a link of the operator was used, also for the only Admin without passwords', async () => {
    const { t, provider } = await withProvider({ PASSWORD_SIGN_IN: 'false' });
    const admin = await newUser(t, { email: BOSS.email });
    // Before the switch they changed it themselves.
    const byThemselves = { email_unconfirmed: 1 };
    await t.ctx.db.updateTable('users').set(byThemselves).where('id', '=', admin.id).execute();
    const { userLink } = await import('../../src/cli/commands.ts');
    const token = (await userLink(t.ctx, BOSS.email)).link.split('#')[1];
    expect((await throughProvider(t, provider, BOSS)).said).toEqual({ provider: 'UNCONFIRMED' });
    expect(await adminCaller(t).post('/links/use', { token })).toHaveStatus(200);
    const { session } = await throughProvider(t, provider, BOSS);
    expect((await signedIn(t, session)).user.id).toBe(admin.id);
  });

  it('keeps nothing of an Admin of another shop who created it first: password, sessions, browsers, links, factor', async () => {
    const mails = await mailServer();
    const { t, provider } = await withProvider(mails.env);
    const { shop } = await t.addShop();
    const adminB = await newPerson(t, { shop });
    const made = { email: BOSS.email, role: 'STAFF', password: PASSWORD };
    const { id } = (await adminB.post('/users', made)).body;
    const first = await adminCaller(t).post('/session', { email: BOSS.email, password: PASSWORD });
    const prepared = adminCaller(t, first.headers.getSetCookie()[0]?.split(';')[0] ?? '');
    const { code } = await turnOn(t, prepared);
    const token = tokenIn((await adminB.post(`/users/${id}/link`)).body.link);
    const { said, session } = await throughProvider(t, provider, BOSS);
    expect(said).toEqual({ provider: 'signed-in' });
    const { user, caller } = await signedIn(t, session);
    expect(user).toMatchObject({ id, secondFactor: false, providerOnly: true });
    expect(await prepared.get('/session')).toFailWith(401, 'SIGNED_OUT');
    t.clock.advance(30_000);
    const again = { email: BOSS.email, password: PASSWORD, code: code() };
    expect(await adminCaller(t).post('/session', again)).toFailWith(401, 'SIGN_IN_FAILED');
    expect(await adminCaller(t).post('/links/use', { token, password: LATER })).toFailWith(
      410,
      'LINK_EXPIRED',
    );
    expect((await caller.get('/session/sessions')).body.items).toHaveLength(1);
    const addresses = t.ctx.db.selectFrom('sign_in_addresses').select('seen_at').where('user_id', '=', id);
    // The address of the boss, who just signed in.
    expect(await addresses.execute()).toHaveLength(1);
    const about = () =>
      mails.received.find(
        ({ to, text }) => to[0] === BOSS.email && text.includes('at the identity provider'),
      );
    expect((await until('the boss is told', about)).text).toContain('all its earlier sessions have ended');
  });
});

describe('users of the provider', () => {
  it('have no password and cannot set one: by no code, no mailed link and no proof', async () => {
    const mails = await mailServer();
    const { t, provider, grace } = await withProvider(mails.env);
    const { caller, user } = await enter(t, provider, { auth_time: seconds() });
    expect(user.providerOnly).toBe(true);
    const { recoveryCodes } = await turnOn(t, caller);
    const newPassword = 'a password for later';
    for (const given of [{ code: recoveryCodes[0] }, { currentPassword: PASSWORD }])
      expect(await caller.put('/session/password', { ...given, newPassword })).toFailWith(
        409,
        'PROVIDER_ONLY',
      );
    await t.ctx.mail?.finish();
    const before = mails.received.length;
    expect(await adminCaller(t).post('/password-links', { email: grace.email })).toHaveStatus(202);
    const other = await newUser(t);
    await adminCaller(t).post('/password-links', { email: other.email });
    // Links are created in order: that of the other user came later.
    await until('the other link comes', () => mails.received.some(({ to }) => to[0] === other.email));
    expect(mails.received.slice(before).filter(({ to }) => to[0] === grace.email)).toEqual([]);
  });

  it('get a password or a link if an Admin explicitly says so', async () => {
    const { t, provider, grace } = await withProvider();
    await enter(t, provider);
    const admin = await newPerson(t);
    const path = `/users/${grace.id}`;
    const password = 'given by an Admin';
    expect(await admin.patch(path, { password })).toFailWith(409, 'PROVIDER_ONLY');
    expect(await admin.post(`${path}/link`)).toFailWith(409, 'PROVIDER_ONLY');
    expect((await admin.patch(path, { name: 'Grace' })).body.providerOnly).toBe(true);
    const token = tokenIn((await admin.post(`${path}/link`, { besideProvider: true })).body.link);
    expect(await adminCaller(t).post('/links/use', { token, password })).toHaveStatus(200);
    expect((await admin.patch(path, { password: 'another given one' })).body.providerOnly).toBe(false);
    // The user has a password now and can change it as usual.
    const { email } = grace;
    const signed = await adminCaller(t).post('/session', { email, password: 'another given one' });
    const self = adminCaller(t, signed.headers.getSetCookie()[0]?.split(';')[0] ?? '');
    const change = { currentPassword: 'another given one', newPassword: 'chosen by themselves' };
    expect(await self.put('/session/password', change)).toHaveStatus(200);
  });
});

describe('the second factor', ONLY_SQLITE, () => {
  it('is not asked of users who come through the provider, but still of those with a password', async () => {
    const { t, provider, grace } = await withProvider();
    const admin = await newPerson(t);
    expect(await admin.put('/sign-in-rules', { secondFactorRequired: true })).toHaveStatus(200);
    const { caller, user } = await enter(t, provider);
    expect(user).toMatchObject({ secondFactor: false, throughProvider: true });
    expect(await caller.get('/offline-repairs')).toHaveStatus(200);
    const given = { password: PASSWORD, besideProvider: true };
    expect(await admin.patch(`/users/${grace.id}`, given)).toHaveStatus(403);
    await turnOn(t, admin);
    expect(await admin.patch(`/users/${grace.id}`, given)).toHaveStatus(200);
    const byPassword = await adminCaller(t).post('/session', { email: grace.email, password: PASSWORD });
    expect(byPassword.body.user.throughProvider).toBe(false);
    const cookie = byPassword.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    expect(await adminCaller(t, cookie).get('/offline-repairs')).toFailWith(403, 'SET_UP_SECOND_FACTOR');
  });

  it('is not asked for there either if a user sets it up later', async () => {
    const { t, provider } = await withProvider();
    await turnOn(t, (await enter(t, provider, { auth_time: seconds() })).caller);
    expect((await enter(t, provider)).user).toMatchObject({ secondFactor: true, throughProvider: true });
  });
});

describe('a proof through the provider', () => {
  it('asks for a fresh sign-in there, and belongs to one session', async () => {
    const { t, provider } = await withProvider();
    // The provider's session began an hour ago, so this is not a proof.
    const { caller } = await enter(t, provider, { auth_time: seconds(-60 * MINUTE_MS) });
    expect(await proofRequired(caller)).toBe(true);
    expect(await proofRequired((await enter(t, provider)).caller)).toBe(true);
    expect(await proofRequired((await enter(t, provider, { auth_time: seconds() })).caller)).toBe(false);

    const prove = async (claims: object) => {
      const departure = await leave(caller, { proof: true });
      expect(departure.address.searchParams.get('max_age')).toBe('0');
      return (await throughProvider(t, provider, { sub: 'g1', ...claims }, departure)).said;
    };
    expect(await prove({})).toEqual({ provider: 'NOT_RECENT' });
    expect(await prove({ auth_time: seconds(-5 * MINUTE_MS) })).toEqual({ provider: 'NOT_RECENT' });
    expect(await prove({ sub: 'g2', ...GRACE, auth_time: seconds() })).toEqual({ provider: 'OTHER_PERSON' });
    expect(await proofRequired(caller)).toBe(true);
    expect(await auditLog(caller, 'PROVIDER_REFUSED')).toHaveLength(3);
    expect(await prove({ auth_time: seconds() })).toEqual({ provider: 'proved' });
    expect(await proofRequired(caller)).toBe(false);
    t.clock.advance(10 * MINUTE_MS);
    expect(await proofRequired(caller)).toBe(true);
  });

  it("is enough to change one's email; users with a password need the password", async () => {
    const { t, provider, grace } = await withProvider();
    const { caller } = await enter(t, provider);
    const change = { email: 'g@example.com' };
    expect(await caller.put('/session/email', change)).toFailWith(403, 'PROOF_REQUIRED');
    expect(await caller.put('/session/email', { ...change, currentPassword: 'wrong' })).toFailWith(
      400,
      'VALIDATION_FAILED',
    );
    const there = await leave(caller, { proof: true });
    const back = { sub: 'g1', ...GRACE, auth_time: seconds() };
    expect((await throughProvider(t, provider, back, there)).said).toEqual({ provider: 'proved' });
    expect((await caller.put('/session/email', change)).body).toMatchObject({
      user: { id: grace.id, ...change },
    });

    const byPassword = await newPerson(t);
    expect((await byPassword.put('/session/email', { email: 'b@example.com' })).body).toMatchObject({
      code: 'VALIDATION_FAILED',
      errors: [{ field: 'currentPassword', rule: 'required' }],
    });
  });

  it('needs a session', ONLY_SQLITE, async () => {
    const { t } = await withProvider();
    expect(await adminCaller(t).post('/session/oidc/proof', {})).toFailWith(401, 'SIGNED_OUT');
  });
});

describe('without passwords (PASSWORD_SIGN_IN=false)', () => {
  it('sessions are opened by the provider only, or once by a link of the command line', async () => {
    const mails = await mailServer();
    const { t, provider, grace } = await withProvider({ PASSWORD_SIGN_IN: 'false', ...mails.env });
    expect((await adminCaller(t).get('/sign-in-options')).body).toEqual({
      passwordLinks: false,
      passwords: false,
      provider: 'Example SSO',
    });
    const { email } = grace;
    expect(await adminCaller(t).post('/session', { email, password: PASSWORD })).toFailWith(
      403,
      'PASSWORD_SIGN_IN_OFF',
    );
    const { caller } = await enter(t, provider, { auth_time: seconds() });
    const newcomer = { email: 'newcomer@example.com', role: 'STAFF' };
    for (const refused of [
      await caller.post('/users', { ...newcomer, password: PASSWORD }),
      await caller.patch(`/users/${(await newUser(t)).id}`, { password: PASSWORD, besideProvider: true }),
      await caller.put('/session/password', { currentPassword: PASSWORD, newPassword: PASSWORD }),
    ])
      expect(refused).toFailWith(403, 'PASSWORD_SIGN_IN_OFF');
    const invited = await caller.post('/users', { email: 'new@example.com', role: 'STAFF' });
    expect(invited).toHaveStatus(201);
    expect(invited.body).toMatchObject({ link: null });
    expect(await caller.post(`/users/${invited.body.id}/link`)).toFailWith(403, 'PASSWORD_SIGN_IN_OFF');
    await adminCaller(t).post('/password-links', { email });

    const { userLink, userUnlinkProvider } = await import('../../src/cli/commands.ts');
    const { link } = await userLink(t.ctx, email);
    const token = link.split('#')[1];
    // A link from before the setting, when an Admin could create one.
    const earlier = 'e'.repeat(64);
    const kept = {
      token_hash: sha256(earlier),
      user_id: grace.id,
      expires_at: t.ctx.clock.now() + MINUTE_MS,
    };
    await t.ctx.db.insertInto('access_links').values(kept).execute();
    const used = await adminCaller(t).post('/links/use', { token });
    expect(used).toHaveStatus(200);
    expect(used.body).toMatchObject({ user: { id: grace.id, throughProvider: false } });
    expect(await auditLog(caller, 'LINK_USED')).toMatchObject([{ data: {} }]);
    for (const each of [token, earlier])
      expect(await adminCaller(t).post('/links/use', { token: each })).toFailWith(410, 'LINK_EXPIRED');
    // Only the command's own mail is sent.
    for (const { text } of mails.received)
      if (!text.includes('linked to your account')) expect(text).toContain(token);

    await userUnlinkProvider(t.ctx, email);
    expect(await caller.get('/session')).toFailWith(401, 'SIGNED_OUT');
    expect((await enter(t, provider, { sub: 'g3' })).user.id).toBe(grace.id);
  });

  it('no email mentions a password', async () => {
    const mails = await mailServer();
    const { t, provider, grace } = await withProvider({ PASSWORD_SIGN_IN: 'false', ...mails.env });
    const { userInvite, userLink } = await import('../../src/cli/commands.ts');
    const bo = { shop: t.shop.id, email: 'bo@example.com', role: 'STAFF' } as const;
    const { link: invitation } = await userInvite(t.ctx, bo);
    const { caller } = await enter(t, provider, { auth_time: seconds() });
    const { link } = await userLink(t.ctx, grace.email);
    expect(await caller.put('/session/email', { email: 'g@example.com' })).toHaveStatus(200);
    const [invited, linked, ...changed] = await until('all were taken', () => {
      const texts = mails.received.map(({ text }) => text).filter((text) => !/linked to your/.test(text));
      return texts.length === 4 && texts;
    });
    for (const text of [invited, linked, ...changed]) expect(text).not.toMatch(/password/i);
    expect(invited).toContain(`Sign in here:\r\n\r\n${invitation}`);
    expect(linked).toContain(`Sign in here:\r\n\r\n${link}`);
    for (const text of changed) expect(text).toContain('the address of your account');
  });

  it('ten wrong codes with a link do not reveal that a password is known', async () => {
    const { t, provider, grace } = await withProvider({ PASSWORD_SIGN_IN: 'false' });
    await turnOn(t, (await enter(t, provider, { auth_time: seconds() })).caller);
    const { userLink } = await import('../../src/cli/commands.ts');
    const token = (await userLink(t.ctx, grace.email)).link.split('#')[1];
    const use = (code: string) => adminCaller(t).post('/links/use', { token, code });
    for (let i = 0; i < 10; i += 1) expect(await use(`00000${i}`)).toFailWith(401, 'SECOND_FACTOR_WRONG');
    expect(await use('000000')).toFailWith(429);
    const { password_exposed_at } = await t.ctx.db
      .selectFrom('users')
      .select('password_exposed_at')
      .where('id', '=', grace.id)
      .executeTakeFirstOrThrow();
    expect(password_exposed_at).toBeNull();
  });

  it('a link accepts a password if passwords are enabled', ONLY_SQLITE, async () => {
    const { t, grace } = await withProvider();
    const { userLink } = await import('../../src/cli/commands.ts');
    const token = (await userLink(t.ctx, grace.email)).link.split('#')[1];
    expect(await adminCaller(t).post('/links/use', { token })).toFailWith(400, 'VALIDATION_FAILED');
  });
});
