import { describe, expect, it } from 'vitest';
import { ADMIN_BASE_PATH } from '../../contract/admin-people.ts';
import { BASE_PATH } from '../../contract/common.ts';
import { adminCaller, newPerson, newUser, PASSWORD } from '../support/admin.ts';
import { repairBody } from '../support/bodies.ts';
import { type Harness, harness, sharedHarness } from '../support/harness.ts';
import { leave, scriptedProvider, throughProvider } from '../support/identity-provider.ts';
import { freePort } from '../support/postgres-server.ts';
import { cli, emptyDatabase, launch, migratedDatabase, startServer } from '../support/process.ts';
import { makeShop } from '../support/shops.ts';
import { mailServer } from '../support/smtp.ts';
import { until } from '../support/until.ts';

// PUBLIC_URL with a path. A proxy may pass it on or remove it: every test that asks over HTTP asks both ways.

const PUBLIC_PATH = '/returns';
const PUBLIC_URL = `https://example.com${PUBLIC_PATH}`;
const below = sharedHarness({ env: { PUBLIC_URL } });

const ask = (t: Harness, path: string, headers: Record<string, string> = {}) =>
  t.get(path, { key: null, unchecked: true, headers });

/** What leaves the service for callers and browsers must begin with the path. */
const PLACES = /(?:href|src)="(\/[^"]*)"/g;

describe.each([
  ['passes the path on', PUBLIC_PATH],
  ['removes the path', ''],
])('behind a proxy that %s', (_, sent) => {
  it('both APIs work, and name addresses below the path', async () => {
    const t = await below();
    const created = await t.post(`${sent}${BASE_PATH}/offline-repairs/`, repairBody(), { unchecked: true });
    expect(created).toHaveStatus(201);
    const read = await t.get(`${sent}${BASE_PATH}/offline-repairs/${created.body.id}`, { unchecked: true });
    expect(read.body).toEqual(created.body);

    const response = await ask(t, `${sent}${BASE_PATH}/offline-repairs?limit=1`);
    expect(response).toHaveStatus(401);
    expect(response.body.docs).toEqual(`${PUBLIC_URL}/docs/errors#UNAUTHENTICATED`);
    for (const base of [BASE_PATH, ADMIN_BASE_PATH]) {
      const document = await ask(t, `${sent}${base}/openapi.json`);
      expect(document.body.servers).toEqual([{ url: `${PUBLIC_URL}${base}` }]);
      expect(document.body.info.contact.url).toBe(`${PUBLIC_URL}/docs/`);
    }
    const wrongMethod = await t.send(`${sent}${BASE_PATH}/usage`, { method: 'PUT', unchecked: true });
    expect(wrongMethod).toHaveStatus(405);
    expect(wrongMethod.headers.get('allow')).toBe('GET, HEAD');
  });

  it('users sign in and out with cookies that only the app below the path receives', async () => {
    const t = await below();
    const { email } = await newUser(t);
    const headers = { origin: 'https://example.com', 'content-type': 'application/json' };
    const signedIn = await t.send(`${sent}${ADMIN_BASE_PATH}/session`, {
      method: 'POST',
      body: { email, password: PASSWORD },
      headers,
      key: null,
      unchecked: true,
    });
    expect(signedIn).toHaveStatus(200);
    const set = signedIn.headers.getSetCookie();
    expect(
      set.map((each) => /^__Secure-(\w+)=.*; Path=([^;]+); HttpOnly; Secure/.exec(each)?.slice(1)),
    ).toEqual([
      ['handback_session', '/returns/admin'],
      ['handback_device', '/returns/admin'],
    ]);
    const cookie = set[0]?.split(';')[0] ?? '';
    expect((await ask(t, `${sent}${ADMIN_BASE_PATH}/session`, { cookie })).body.user.email).toBe(email);
    const signedOut = await t.send(`${sent}${ADMIN_BASE_PATH}/session`, {
      method: 'DELETE',
      headers: { ...headers, cookie },
      unchecked: true,
    });
    expect(signedOut.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Secure-handback_session=; .*Path=\/returns\/admin; Expires=Thu, 01 Jan 1970/),
    ]);
  });

  it('pages, their files and their redirects are below the path', async () => {
    const t = await below();
    for (const [path, status, location] of [
      ['/admin', 308, '/returns/admin/'],
      ['/docs', 308, '/returns/docs/'],
      ['/', 302, '/returns/admin/'],
      ['?from=mail', 302, '/returns/admin/'],
      ['', 302, '/returns/admin/'],
    ] as const) {
      const address = `${sent}${path}`;
      const response = await ask(t, address.startsWith('/') ? address : `/${address}`, {
        accept: 'text/html',
      });
      expect(response).toHaveStatus(status);
      expect(response.headers.get('location'), path).toBe(location);
    }
    const deep = await ask(t, `${sent}/admin/settings/team?page=2`, { 'accept-encoding': 'br, gzip' });
    expect(deep.headers.get('content-security-policy')).toContain("base-uri 'none'");
    const places = [...deep.body.matchAll(PLACES)].map(([, place]) => place);
    expect(places.length).toBeGreaterThan(3);
    for (const place of places) {
      expect(place).toMatch(/^\/returns\/admin\//);
      expect(await ask(t, place)).toHaveStatus(200);
      expect(await ask(t, place.replace('/returns', ''))).toHaveStatus(200);
    }
    const etag = deep.headers.get('etag') ?? '';
    expect(await ask(t, `${sent}/admin/`, { 'if-none-match': etag })).toHaveStatus(304);
    for (const page of ['/docs/', '/docs/quick-start', '/docs/reference']) {
      const response = await ask(t, `${sent}${page}`);
      expect(response).toHaveStatus(200);
      expect([...response.body.matchAll(PLACES)]).toEqual([]);
    }
  });

  it('texts for programs show the full address', async () => {
    const t = await below();
    expect((await ask(t, `${sent}/llms.txt`)).body).toContain(`(${PUBLIC_URL}/docs/quick-start.md)`);
    expect((await ask(t, `${sent}/docs/quick-start.md`)).body).toContain(`BASE=${PUBLIC_URL}${BASE_PATH}\n`);
    const { variable } = (await ask(t, `${sent}/docs/postman.json`)).body;
    expect(variable).toContainEqual({ key: 'baseUrl', value: `${PUBLIC_URL}${BASE_PATH}`, type: 'string' });
  });

  it('log and metrics name the same routes', async () => {
    const t = await below({ own: true, env: { PUBLIC_URL } });
    await ask(t, `${sent}/llms.txt`);
    await ask(t, `${sent}${BASE_PATH}/offline-repairs/x`);
    await until('both are logged', () => t.logs.filter((line) => line.includes('"request"')).length === 2);
    const routes = t.logs.map((line) => JSON.parse(line).route).filter(Boolean);
    expect(routes).toEqual(['/llms.txt', `${BASE_PATH}/offline-repairs/:id`]);
    const { body } = await t.get('/metrics', { key: null, unchecked: true, ip: null });
    expect(body).not.toContain(PUBLIC_PATH);
  });
});

describe('the path', () => {
  it('is exactly that of PUBLIC_URL: no part of it, not twice, and not from a header', async () => {
    const t = await below();
    const outside = [
      '/returnsx',
      '/return',
      '/Returns',
      '/retur%6es',
      '/returns/returns',
      '//returns',
      '/returns/',
      '/other',
    ];
    for (const path of [...outside.map((each) => `${each}/healthz`), '/returns%2fhealthz', '/returnshealthz'])
      expect(await ask(t, path), path).toHaveStatus(404);
    for (const name of ['forwarded-prefix', 'script-name', 'original-url', 'rewrite-url', 'forwarded-path']) {
      const headers = { [`x-${name}`]: '/other', accept: 'text/html' };
      expect(await ask(t, '/other/healthz', headers)).toHaveStatus(404);
      expect((await ask(t, '/', headers)).headers.get('location')).toBe('/returns/admin/');
      expect((await ask(t, '/admin/', headers)).body).not.toContain('/other');
    }
  });

  it('is part of the documentation link of an error', async () => {
    const t = await below();
    for (const path of ['/returns/nothing', '/nothing']) {
      const { docs } = (await ask(t, path)).body;
      expect(docs).toBe(`${PUBLIC_URL}/docs/errors#ROUTE_NOT_FOUND`);
    }
  });

  it('shares one rate limit with the address without it', async () => {
    const t = await below();
    const remaining = async (path: string) => {
      const { headers } = await t.get(`${path}${BASE_PATH}/usage`, { ip: '192.0.2.9', unchecked: true });
      return Number(headers.get('ratelimit-remaining'));
    };
    expect((await remaining('')) - (await remaining(PUBLIC_PATH))).toBe(1);
  });

  it('does not affect the subdomains of a shared host', async () => {
    const policyOf = async (url: string) => {
      const t = await harness({ env: { PUBLIC_URL: url } });
      return (await ask(t, '/healthz')).headers.get('strict-transport-security');
    };
    expect(await policyOf(PUBLIC_URL)).toBe('max-age=31536000');
    expect(await policyOf('https://example.com')).toBe('max-age=31536000; includeSubDomains');
    expect(await policyOf('http://example.com/returns')).toBeNull();
  });

  it('is part of links that are shown and mailed', async () => {
    const mails = await mailServer();
    const t = await harness({ env: { PUBLIC_URL, ...mails.env } });
    const admin = await newPerson(t);
    const added = await admin.post('/users', { email: 'ada@example.com', role: 'STAFF' });
    expect(added.body.link).toMatch(/^https:\/\/example\.com\/returns\/admin\/link#[0-9a-f]{64}$/);
    const mail = await until('it is mailed', () => mails.received[0]);
    expect(mail.text).toContain(added.body.link);
  });

  it('is part of what the start and the commands print', async () => {
    const env = await emptyDatabase();
    const server = await startServer({ ...env, PUBLIC_URL });
    const link = / {2}https:\/\/example\.com\/returns\/admin\/set-up#\w+\n/;
    await until('the link is printed', () => link.test(server.stderr));
    expect(server.stderr).toContain(`is ready at ${PUBLIC_URL} (documentation: ${PUBLIC_URL}/docs)`);
    // Without the setting, commands know the address from the server.
    const demo = await cli(['demo'], env);
    expect(demo).toMatchObject({
      admin: `${PUBLIC_URL}/admin`,
      try: expect.stringContaining(`'${PUBLIC_URL}${BASE_PATH}/offline-repairs`),
    });
    const shown = await cli(['user', 'link', demo.email], { ...env, PUBLIC_URL });
    expect(shown.link).toMatch(/^https:\/\/example\.com\/returns\/admin\/link#/);
  });

  it('is accepted in the address that `handback events` reads from', async () => {
    const port = await freePort();
    const env = await migratedDatabase({
      PUBLIC_URL: `http://127.0.0.1:${port}/returns`,
      PORT: String(port),
    });
    const { key } = await makeShop(env);
    const server = await startServer(env, { key });
    const { id } = (await server.create()).body;
    const following = launch(['events', '--key', key, '--json'], env);
    await until('the event is printed', () => following.out.stdout.includes(id));
  });

  it('is where the identity provider sends users back to', async () => {
    const provider = await scriptedProvider();
    const t = await harness({ env: { PUBLIC_URL, ...provider.env } });
    await newUser(t, { email: 'grace@example.com' });
    const { address } = await leave(adminCaller(t));
    expect(address.searchParams.get('redirect_uri')).toBe(`${PUBLIC_URL}/admin/api/session/oidc/callback`);
    const grace = { sub: 'g1', email: 'grace@example.com', email_verified: true };
    const { said, response } = await throughProvider(t, provider, grace);
    expect(said).toEqual({ provider: 'signed-in' });
    const location = response.headers.get('location') ?? '';
    expect(new URL(location, `${PUBLIC_URL}/admin/api/session/oidc/callback`).pathname).toBe(
      '/returns/admin/sign-in',
    );
  });
});
