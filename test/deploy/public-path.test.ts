import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ADMIN_BASE_PATH } from '../../contract/admin-people.ts';
import { BASE_PATH } from '../../contract/common.ts';
import { repairBody } from '../support/bodies.ts';
import { sendTo } from '../support/http.ts';
import { freePort } from '../support/postgres-server.ts';
import { migratedDatabase, startServer } from '../support/process.ts';
import { startHaproxy, startNginx } from '../support/proxies.ts';
import { addPerson, makeShop } from '../support/shops.ts';
import { needs } from '../support/tools.ts';

// The configurations of "Serving under a path prefix" in docs/operations/install.md, as they stand there and with the path removed.
// Only ports are changed.

const INSTALL = readFileSync(new URL('../../docs/operations/install.md', import.meta.url), 'utf8');

const snippet = (language: string): string => {
  const [, text] =
    new RegExp(`^## Serving under a path prefix$.*?^\`\`\`${language}$(.*?)^\`\`\`$`, 'ms').exec(INSTALL) ??
    [];
  if (!text?.includes('/returns'))
    throw new Error(`docs/operations/install.md has no ${language} for a path prefix`);
  return text;
};

const nginx = async (port: number, servicePort: number, removesPath: boolean): Promise<void> => {
  const target = `proxy_pass http://127.0.0.1:${servicePort}${removesPath ? '/' : ''};`;
  await startNginx(port, snippet('nginx').replace('proxy_pass http://127.0.0.1:3000;', target));
};

const haproxy = async (port: number, servicePort: number, removesPath: boolean): Promise<void> => {
  const lines = [
    'defaults\n  mode http\n  timeout connect 2s\n  timeout client 60s\n  timeout server 40s',
    `frontend callers\n  bind 127.0.0.1:${port}${snippet('haproxy')}`,
    'backend handback\n  option httpchk GET /readyz',
    ...(removesPath ? ['  http-request replace-path ^/returns/?(.*) /\\1'] : []),
    `  server api-1 127.0.0.1:${servicePort} check inter 500ms`,
  ];
  const { uses } = await startHaproxy(lines.join('\n'));
  await uses('api-1');
};

const PROXIES = { nginx, haproxy };

const startBehind = async (proxy: keyof typeof PROXIES, removesPath: boolean) => {
  const port = await freePort();
  const host = `http://127.0.0.1:${port}`;
  // With a token the service would say 401 where the proxy lets a request for the metrics through.
  const METRICS_TOKEN = 'figures-for-prometheus';
  const env = await migratedDatabase({ PUBLIC_URL: `${host}/returns`, METRICS_TOKEN });
  const { shopId, key } = await makeShop(env);
  const { email, password } = await addPerson(env, shopId);
  const server = await startServer(env);
  await PROXIES[proxy](port, server.port, removesPath);
  return { host, url: `${host}/returns`, send: sendTo(host, key), person: { email, password } };
};

describe.each(['nginx', 'haproxy'] as const)('behind %s', (proxy) => {
  it.each([
    ['passes the path on', false],
    ['removes the path', true],
  ])('that %s: both APIs, the app and the documentation', needs(proxy), async (_, removesPath) => {
    const { host, url, send, person } = await startBehind(proxy, removesPath);
    const api = `/returns${BASE_PATH}`;
    expect(await send(`${api}/offline-repairs`, { method: 'POST', body: repairBody() })).toHaveStatus(201);
    expect((await send(`${api}/offline-repairs?limit=1`)).body.items).toHaveLength(1);
    expect((await send(`${api}/openapi.json`)).body.servers).toEqual([{ url: `${url}${BASE_PATH}` }]);
    const tooLarge = await send(`${api}/offline-repairs`, { method: 'POST', body: 'x'.repeat(400_000) });
    expect(tooLarge.body).toMatchObject({
      code: 'BODY_TOO_LARGE',
      docs: `${url}/docs/errors#BODY_TOO_LARGE`,
    });

    // Like a browser: with the app's cookie only, from a page of this host.
    const signedIn = await send(`/returns${ADMIN_BASE_PATH}/session`, {
      method: 'POST',
      body: person,
      headers: { origin: host, 'sec-fetch-site': 'same-origin' },
    });
    expect(signedIn).toHaveStatus(200);
    const [set = ''] = signedIn.headers.getSetCookie();
    expect(set).toContain('; Path=/returns/admin;');
    const cookie = set.split(';')[0] ?? '';
    const again = await send(`/returns${ADMIN_BASE_PATH}/session`, { headers: { cookie } });
    expect(again.body.user.email).toBe(person.email);

    // Redirects lead to addresses that the proxy knows, and pages name such files.
    for (const [from, to] of [
      ['', '/admin/'],
      ['/', '/admin/'],
      ['/admin', '/admin/'],
      ['/docs', '/docs/'],
      ['/admin/settings/team', '/admin/settings/team'],
      ['/docs/reference', '/docs/reference'],
    ]) {
      const page = await fetch(`${url}${from}`, { headers: { accept: 'text/html' } });
      expect(page).toHaveStatus(200);
      expect(page.url).toEqual(`${url}${to}`);
      const html = await page.text();
      const files = [...html.matchAll(/<(?:script|link)[^>]+(?:src|href)="([^"]+\.(?:js|css|woff2))"/g)];
      expect(files.length).toBeGreaterThan(1);
      for (const [, file = ''] of files) {
        const response = await fetch(new URL(file, page.url));
        expect(response, file).toHaveStatus(200);
        expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(100);
      }
    }
    // Other paths belong to other programs, and metrics are for the operator.
    for (const path of ['/returns/metrics', '/returns/%6Detrics', '/metrics', '/admin/', '/returnsx/healthz'])
      expect(await send(path)).toHaveStatus(404, 503);
  });
});
