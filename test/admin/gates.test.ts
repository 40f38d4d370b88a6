import { describe, expect } from 'vitest';
import { ADMIN_BASE_PATH } from '../../contract/admin-people.ts';
import {
  type AdminCaller,
  adminCaller,
  deviceFrom,
  newPerson,
  PASSWORD,
  type Person,
} from '../support/admin.ts';
import { overSocket, stopClock, UNKNOWN_ID } from '../support/api.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';
import { atOnce } from '../support/responses.ts';

const harness = sharedHarness();
const it = itWith(harness);
const PUBLIC_URL = 'https://returns.example.com';
const itInPublic = itWith(() => harness({ env: { PUBLIC_URL } }));

const rules = (t: Harness) => t.ctx.db.selectFrom('dangerous_goods').selectAll().execute();
type Headers = Record<string, string | null>;
const put = (person: Person, headers: Headers) =>
  person.put('/dangerous-goods', { rules: ['ACID'] }, { headers });
/** With a body and without, with a session and before it. */
const changes = async (t: Harness, admin: Person, headers: Headers) => [
  await put(admin, headers),
  await admin.delete(`/users/${UNKNOWN_ID}`, { headers }),
  await admin.delete('/session', { headers }),
  await adminCaller(t).post('/session', { email: admin.email, password: PASSWORD }, { headers }),
];

describe('a change', () => {
  it('must be declared as JSON, also without a body', async ({ t, admin }) => {
    const forms = ['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/plain'];
    const similar = ['text/plain; application/json', 'application/jsonp', 'application/json+x'];
    for (const type of [null, ...forms, ...similar])
      for (const response of await changes(t, admin, { 'content-type': type }))
        expect(response).toFailWith(415);
    expect(await rules(t)).toEqual([]);
    expect(await admin.get('/session')).toHaveStatus(200);
    const json = ['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset=UTF-8'];
    for (const type of json) expect(await put(admin, { 'content-type': type })).toHaveStatus(200);
  });

  itInPublic('is refused from another origin, whatever else is right', async ({ t, admin }) => {
    const port = new URL(t.url).port;
    const similar = ['https://returns.example.com.evil.example.com', 'https://sub.returns.example.com'];
    const otherPorts = ['https://returns.example.com:8443', 'http://127.0.0.1:1'];
    const otherScheme = 'http://returns.example.com';
    // An extension of the browser may have our host's name as its own.
    const extensions = [`chrome-extension://127.0.0.1:${port}`, 'moz-extension://returns.example.com'];
    const noOrigins = ['null', 'returns.example.com', 'nonsense', '', ...extensions];
    const others = ['https://evil.example.com', `http://localhost:${port}`, otherScheme];
    const foreign = [...others, ...similar, ...otherPorts, ...noOrigins];
    for (const origin of foreign)
      for (const response of await changes(t, admin, { origin }))
        expect(response).toFailWith(403, 'CROSS_SITE');
    expect(await rules(t)).toEqual([]);
    expect(await admin.get('/session')).toHaveStatus(200);
    // Programs send no origin.
    for (const origin of [PUBLIC_URL, t.url, null]) expect(await put(admin, { origin })).toHaveStatus(200);
  });

  itInPublic('is refused where the browser says that it comes from elsewhere', async ({ t, admin }) => {
    for (const site of ['cross-site', 'same-site'])
      for (const origin of [null, PUBLIC_URL])
        expect(await put(admin, { 'sec-fetch-site': site, origin })).toFailWith(403, 'CROSS_SITE');
    expect(await rules(t)).toEqual([]);
    for (const own of ['same-origin', 'none'])
      expect(await put(admin, { 'sec-fetch-site': own })).toHaveStatus(200);
  });

  itInPublic('that comes with a name of another host is judged by that host', async ({ t, admin }) => {
    const body = JSON.stringify({ rules: [] });
    const send = (host: string, origin: string) =>
      overSocket(
        t.url,
        `PUT ${ADMIN_BASE_PATH}/dangerous-goods HTTP/1.1\r\nhost: ${host}\r\norigin: ${origin}\r\ncookie: ${admin.cookie}\r\n` +
          `connection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
    expect(await send('Desk.internal:3000', 'http://desk.internal:3000')).toHaveStatus(200);
    expect(await send('desk.internal:3000', 'http://desk.internal')).toFailWith(403, 'CROSS_SITE');
    expect(await send('desk.internal', 'http://desk.internal:3000')).toFailWith(403, 'CROSS_SITE');
    // X-Forwarded-Host is ignored.
    const forwarded = 'desk.internal\r\nx-forwarded-host: evil.example';
    expect(await send(forwarded, 'http://evil.example')).toFailWith(403, 'CROSS_SITE');
  });
});

describe('a read', () => {
  it('needs neither a content type nor an origin of our own', async ({ admin }) => {
    const headers = { origin: 'https://evil.example.com', 'sec-fetch-site': 'cross-site' };
    const response = await admin.get('/users', { headers });
    expect(response).toHaveStatus(200);
    // Without these headers the browser shows nothing to the other site.
    for (const name of ['access-control-allow-origin', 'access-control-allow-credentials'])
      expect(response.headers.get(name)).toBeNull();
  });

  it('works with HEAD, and a preflight is refused', async ({ t, admin }) => {
    expect(await admin.send('/users', { method: 'HEAD' })).toHaveStatus(200);
    expect(await adminCaller(t).send('/users', { method: 'HEAD' })).toHaveStatus(401);
    const preflight = await adminCaller(t).send('/users', {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example.com', 'access-control-request-method': 'POST' },
    });
    expect(preflight).toFailWith(405);
    expect(preflight.headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('the order of the checks', () => {
  it('is content type, origin, session, role, body, id', async ({ t, admin, staff }) => {
    const bad = { role: 'OWNER' };
    const path = `/users/${UNKNOWN_ID}`;
    const foreign = { origin: 'https://evil.example.com' };
    const ask = (who: Parameters<typeof adminCaller>[1], body: unknown, headers = {}) =>
      adminCaller(t, who).patch(path, body, { headers });
    expect(await ask(null, bad, { ...foreign, 'content-type': 'text/plain' })).toFailWith(415);
    expect(await ask(null, bad, foreign)).toFailWith(403, 'CROSS_SITE');
    expect(await ask(null, bad)).toFailWith(401);
    expect(await ask(staff.cookie, bad)).toFailWith(403, 'ADMIN_REQUIRED');
    expect(await ask(admin.cookie, bad)).toFailWith(400);
    expect(await ask(admin.cookie, { role: 'STAFF' })).toFailWith(404);
  });

  it('reads the body only after it knows who sends it', async ({ t }) => {
    const size = 300 * 1024;
    const response = await overSocket(
      t.url,
      `POST ${ADMIN_BASE_PATH}/users HTTP/1.1\r\nhost: test\r\nconnection: close\r\ncontent-type: application/json\r\n` +
        `content-length: ${size}\r\n\r\n${' '.repeat(size)}`,
    );
    expect(response).toFailWith(401);
    expect(await adminCaller(t).post('/users', '{')).toFailWith(401);
  });
});

describe('limits', () => {
  /** This many calls, fifty at a time. */
  const many = async <Result>(count: number, ask: (i: number) => Promise<Result>): Promise<Result[]> => {
    const results: Result[] = [];
    while (results.length < count) {
      const done = results.length;
      results.push(...(await atOnce(Math.min(50, count - done), (i) => ask(done + i))));
    }
    return results;
  };

  it('allow an address without a session sixty requests a minute, with any cookie', async ({ t, admin }) => {
    stopClock();
    const ip = '198.51.100.60';
    const visitor = adminCaller(t);
    const liar = adminCaller(t, `handback_session=${'a'.repeat(43)}`);
    const calls = [
      () => visitor.get('/sign-in-options', { ip }),
      () => visitor.get('/session', { ip }),
      () => liar.get('/session', { ip }),
      () => visitor.post('/set-up/check', { token: 'x'.repeat(48) }, { ip }),
    ];
    const asked = await many(80, (i) => (calls[i % calls.length] as (typeof calls)[number])());
    expect(asked.filter(({ status }) => status === 429)).toHaveLength(20);
    const refused = await visitor.get('/sign-in-options', { ip });
    expect(refused).toFailWith(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    // Users who are signed in at the same address can continue.
    expect(await admin.get('/session', { ip })).toHaveStatus(200);
    expect(await visitor.get('/sign-in-options', { ip: '198.51.100.61' })).toHaveStatus(200);
    // So can a browser that signed in before, which has a share of its own.
    const own = { email: admin.email, password: PASSWORD };
    const known = adminCaller(t, deviceFrom(await visitor.post('/session', own)));
    expect(await known.post('/session', own, { ip })).toHaveStatus(200);
    const forged = adminCaller(t, `handback_device=${'a'.repeat(22)}.${'b'.repeat(43)}`);
    expect(await forged.get('/sign-in-options', { ip })).toFailWith(429);
  });

  it('allow known browsers of one address three hundred requests a minute in total', async ({ t, admin }) => {
    stopClock();
    const ip = '198.51.100.64';
    const own = { email: admin.email, password: PASSWORD };
    const [one, other] = [
      await adminCaller(t).post('/session', own),
      await adminCaller(t).post('/session', own),
    ];
    // The refused requests of one do not count against the others.
    const alone = adminCaller(t, deviceFrom(one));
    const elsewhere = '198.51.100.65';
    expect(await many(310, () => alone.get('/sign-in-options', { ip: elsewhere }))).toHaveStatuses({
      200: 60,
      429: 250,
    });
    const beside = adminCaller(t, deviceFrom(other));
    expect(await beside.get('/sign-in-options', { ip: elsewhere })).toHaveStatus(200);
    // Each sign-in without a cookie makes another browser.
    const minted: AdminCaller[] = [];
    for (let i = 0; i < 8; i += 1)
      minted.push(adminCaller(t, deviceFrom(await adminCaller(t).post('/session', own))));
    const asked = await many(320, (i) =>
      (minted[i % minted.length] as AdminCaller).get('/sign-in-options', { ip }),
    );
    expect(asked).toHaveStatuses({ 200: 300, 429: 20 });
    // Whoever has no cookie keeps the address's own share.
    expect(await adminCaller(t).get('/sign-in-options', { ip })).toHaveStatus(200);
  });

  it('allow a session six hundred requests a minute', async ({ t }) => {
    stopClock();
    const [admin, other] = [await newPerson(t), await newPerson(t)];
    expect(await many(620, () => admin.get('/session'))).toHaveStatuses({ 200: 600, 429: 20 });
    expect(await other.get('/session')).toHaveStatus(200);
  });

  it('allow an address three thousand requests a minute, with any number of sessions', async ({ t }) => {
    stopClock();
    const ip = '198.51.100.62';
    const people = await atOnce(6, () => newPerson(t));
    // Without connections, which would take most of the time.
    const statuses = await many(3020, async (i) => {
      const headers = { cookie: people[i % 6]?.cookie, 'x-forwarded-for': ip };
      return (await t.app.inject({ url: `${ADMIN_BASE_PATH}/session`, headers })).statusCode;
    });
    expect(statuses.filter((status) => status === 200)).toHaveLength(3000);
    expect(statuses.filter((status) => status === 429)).toHaveLength(20);
  });

  it('read no body from an address over its limit, and at most 8 KiB before a session', async ({ t }) => {
    stopClock();
    const ip = '198.51.100.63';
    const visitor = adminCaller(t);
    const large = JSON.stringify({ email: 'a@example.com', password: 'p'.repeat(8 * 1024) });
    const paths = ['/session', '/password-links', '/links/check', '/links/use', '/set-up', '/set-up/check'];
    for (const path of paths) {
      const response = await visitor.post(path, large, { ip: '198.51.100.64' });
      expect(response).toFailWith(413);
      expect(response.body.message).toBe('The body is larger than 8 KiB.');
    }
    await many(60, () => visitor.get('/sign-in-options', { ip }));
    const head = [
      `POST ${ADMIN_BASE_PATH}/session HTTP/1.1`,
      'host: test',
      `x-forwarded-for: ${ip}`,
      'content-type: application/json',
      'content-length: 8000',
    ];
    // The body never comes.
    expect(await overSocket(t.url, `${head.join('\r\n')}\r\n\r\n`)).toFailWith(429);
  });
});

it('unknown addresses and methods return the error body, without a session', async ({ t }) => {
  const visitor = adminCaller(t);
  for (const path of ['/', '/nothing', '/users/a/b', '/Users', '/session//'])
    expect(await visitor.get(path)).toFailWith(404);
  expect(await visitor.post('/nothing', {})).toFailWith(404);
  const response = await visitor.put('/users', {});
  expect(response).toFailWith(405);
  expect(response.headers.get('allow')?.split(', ').sort()).toEqual(['GET', 'HEAD', 'POST']);
});
