import { readdirSync, readFileSync } from 'node:fs';
import MiniSearch from 'minisearch';
import { describe, expect } from 'vitest';
import { BASE_PATH } from '../../contract/common.ts';
import { SEARCH_OPTIONS } from '../../docs/site/search-options.ts';
import { withPlaces } from '../../scripts/docs/privacy-page.ts';
import { ERRORS } from '../../src/platform/errors.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, harness, sharedHarness } from '../support/harness.ts';

const it = itWith(sharedHarness());

// The documentation as it is served: pages, their files, and the same as Markdown. It is built by npm run build.

const ask = (t: Harness, path: string, headers: Record<string, string> = {}) =>
  t.get(path, { key: null, unchecked: true, headers });

/** The addresses of the pages, as the first one links to them. */
const pagesOf = async (t: Harness): Promise<string[]> => {
  const { body } = await ask(t, '/docs/');
  const [, navigation = ''] = /<nav class="pages"[^>]*>(.*?)<\/nav>/s.exec(body) ?? [];
  return [...navigation.matchAll(/href="(.+?)"/g)].map(([, href]) => `/docs/${href?.replace('./', '')}`);
};
const filesOf = (page: string) =>
  [...page.matchAll(/(?:src|href|data-search-index)="(assets\/.+?)"/g)].map(([, src]) => `/docs/${src}`);

describe('the pages', () => {
  it('load everything from this service, under a policy without inline scripts and styles', async ({ t }) => {
    const pages = await pagesOf(t);
    expect(pages).toEqual(expect.arrayContaining(['/docs/', '/docs/quick-start', '/docs/errors']));
    for (const path of pages) {
      const page = await ask(t, path);
      expect(page).toHaveStatus(200);
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
      const policy = page.headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(/^default-src 'none'; script-src 'self'; /);
      expect(policy.includes('unsafe-inline')).toBe(path === '/docs/reference');
      expect(page.headers.get('cache-control')).toBe('no-cache');
      // Links for readers may lead elsewhere.
      expect(page.body).not.toMatch(/<(?!a )[^>]* (src|href)="(https?:)?\/\//);
      expect(page.body).not.toMatch(/<script(?! src=)|<style|<[^>]+ style=/);
      const files = filesOf(page.body);
      for (const file of files) expect(await ask(t, file)).toHaveStatus(200);
      // More than a megabyte, which only the reference needs.
      expect(files.some((file) => /assets\/reference-/.test(file))).toBe(path === '/docs/reference');
    }
  });

  it('are found without a trailing slash', async ({ t }) => {
    const response = await ask(t, '/docs');
    expect(response).toHaveStatus(308);
    expect(response.headers.get('location')).toBe('/docs/');
  });

  it('have no dead links', async ({ t }) => {
    const pages = await pagesOf(t);
    const bodies = new Map(
      await Promise.all(pages.map(async (path) => [path, (await ask(t, path)).body] as [string, string])),
    );
    for (const [path, body] of bodies)
      for (const [, href = ''] of body.matchAll(/<a [^>]*?href="([^"]+)"/g)) {
        const { host, pathname, hash } = new URL(href, `http://test${path}`);
        if (host !== 'test') continue;
        const target = bodies.get(pathname);
        if (target === undefined) expect(await ask(t, pathname), `${path} → ${href}`).toHaveStatus(200);
        else if (hash) expect(target, `${path} → ${href}`).toContain(`id="${hash.slice(1)}"`);
      }
  });

  it('have precompressed files that browsers cache', async ({ t }) => {
    const types = {
      js: /^text\/javascript/,
      css: /^text\/css/,
      json: /^application\/json/,
      woff2: /^font\/woff2$/,
    };
    for (const path of filesOf((await ask(t, '/docs/reference')).body)) {
      const contents = new Set<string>();
      for (const encoding of ['br', 'gzip', 'identity']) {
        const file = await ask(t, path, { 'accept-encoding': encoding });
        expect(file).toHaveStatus(200);
        const length = file.headers.get('content-length');
        const decoded = await fetch(`${t.url}${path}`, { headers: { 'accept-encoding': encoding } });
        contents.add(await decoded.text());
        const head = await fetch(`${t.url}${path}`, {
          method: 'HEAD',
          headers: { 'accept-encoding': encoding },
        });
        expect(head).toHaveStatus(200);
        expect(head.headers.get('content-length')).toEqual(length);
        if (encoding === 'identity' && /\.(js|css)$/.test(path))
          expect(length).toBe(String(Buffer.byteLength([...contents].at(-1) ?? '')));
        expect(file.headers.get('content-type')).toMatch(types[path.split('.').at(-1) as keyof typeof types]);
        expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
        expect(file.headers.get('content-encoding') ?? 'identity').toBe(
          // A font is compressed as it is.
          path.endsWith('.woff2') ? 'identity' : encoding,
        );
        expect(file.headers.get('vary')).toMatch(/accept-encoding/i);
        const cached = { 'accept-encoding': encoding, 'if-none-match': file.headers.get('etag') ?? '' };
        expect(await ask(t, path, cached)).toHaveStatus(304);
      }
      expect(contents.size, path).toBe(1);
    }
  });

  it('return a 404 that is not cached for an unknown address', async ({ t }) => {
    const pages = ['nothing', 'nothing.md', 'errors.html', 'errors/', 'assets/', 'assets/old-0123456789.js'];
    const outside = ['../package.json', '..%2fadmin/index.html'];
    for (const path of [
      ...[...pages, ...outside].map((page) => `/docs/${page}`),
      '/admin/assets/old-01.js',
    ]) {
      const nothing = await ask(t, path);
      expect(nothing).toFailWith(404);
      expect(nothing.headers.get('cache-control')).toBe('no-store');
    }
  });

  it('explain every error code with its status and message', async ({ t }) => {
    const { body: page } = await ask(t, '/docs/errors');
    const { body: text } = await ask(t, '/docs/errors.md');
    for (const [code, { status, message }] of Object.entries(ERRORS)) {
      expect(page).toContain(`<h3 id="${code}">`);
      const [section = ''] = new RegExp(`^### ${code}$[^#]*`, 'm').exec(text) ?? [];
      expect(section).toContain(`**${status} `);
      expect(section).toContain(message);
      // Beyond that, what to do about it.
      expect(section.trim().split('\n\n').length, code).toBeGreaterThan(2);
    }
  });
});

const FOUND: [word: string, address: string][] = [
  ['authentication', 'api#authentication'],
  ['pagination', 'api#lists-and-pagination'],
  ['cors', 'api#browsers-and-cors'],
  ['currency', 'api#money-and-currency'],
  ['time zone', 'api#times-and-time-zones'],
  ['typescript', 'create#typescript'],
  ['mirror', 'keep-a-copy#a-program-that-keeps-one'],
  ['sandbox', 'go-live#a-shop-for-tests'],
  ['checklist', 'go-live#checklist-for-going-live'],
  ['postman', 'recipes#a-postman-collection'],
  ['gdpr', 'erase#gdpr-forget-a-customer-in-three-steps'],
  ['forget', 'erase#gdpr-forget-a-customer-in-three-steps'],
  ['erase a customer', 'erase#erase-a-customer-by-api'],
  ['privacy', 'privacy'],
];

it.for(FOUND)('the search finds %s', async ([word, address], { t }) => {
  const [, index = ''] = /data-search-index="(.+?)"/.exec((await ask(t, '/docs/')).body) ?? [];
  const { body } = await ask(t, `/docs/${index}`);
  expect(MiniSearch.loadJS(body, SEARCH_OPTIONS).search(word)[0]?.id).toBe(address);
});

it('docs/privacy.md lists every column that can hold personal data (npm run docs:privacy)', () => {
  const page = readFileSync(new URL('../../docs/privacy.md', import.meta.url), 'utf8');
  expect(page).toBe(withPlaces(page));
});

describe('the recipes', () => {
  const recipes = new URL('../../recipes/', import.meta.url);
  it('are on one page with every file, for readers who only have the service', async ({ t }) => {
    const page = await ask(t, '/docs/recipes.md');
    const files = readdirSync(recipes, { withFileTypes: true })
      .filter((each) => each.isDirectory())
      .flatMap(({ name }) =>
        readdirSync(new URL(`${name}/`, recipes))
          .filter((file) => /\.(ts|json|py|php)$/.test(file) && !file.endsWith('.d.ts'))
          .map((file) => `${name}/${file}`),
      );
    const some = ['php-receiver/work.php', 'python-receiver/receiver.py', 'typescript-client/client.ts'];
    expect(files).toEqual(expect.arrayContaining(some));
    for (const file of files)
      expect(page.body).toContain(`\n${readFileSync(new URL(file, recipes), 'utf8').trim()}\n\`\`\``);
  });

  it('are linked from the first page, beside the Postman collection and the OpenAPI document', async ({
    t,
  }) => {
    const { body } = await ask(t, '/docs/');
    const links = [...body.matchAll(/<a [^>]*?href="([^"]+)"/g)].map(([, href = '']) =>
      new URL(href, 'http://test/docs/').href.replace('http://test', ''),
    );
    const recipesPage = ['/docs/recipes', '/docs/recipes#a-postman-collection'];
    const documents = ['/docs/postman.json', `${BASE_PATH}/openapi.json`];
    expect(links).toEqual(expect.arrayContaining([...recipesPage, ...documents]));
  });
});

describe('the documentation as text', () => {
  it('exists for every page, and llms.txt lists them', async ({ t }) => {
    const list = await ask(t, '/llms.txt');
    expect(list.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const pages = await pagesOf(t);
    const listed = [...list.body.matchAll(/\((http\S+?\.md)\)/g)].map(([, url]) => String(url));
    expect(listed.map((url) => url.replace(t.url, ''))).toEqual(
      pages.map((path) => (path === '/docs/' ? '/docs/index.md' : `${path}.md`)),
    );
    for (const url of listed) {
      const response = await ask(t, url.replace(t.url, ''));
      expect(response).toHaveStatus(200);
      expect(response.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
      expect(response.body).toMatch(/^# \S/);
      expect(response.body).not.toContain('returns.example.com');
    }
  });

  it('has every endpoint and every object of the API in the reference', async ({ t }) => {
    const { body } = await ask(t, '/docs/reference.md');
    // biome-ignore lint/suspicious/noExplicitAny: a JSON document
    const { paths, components } = t.app.swagger() as any;
    for (const [path, operations] of Object.entries(paths))
      for (const method of Object.keys(operations as object))
        expect(body).toContain(`### ${method.toUpperCase()} ${path}\n`);
    for (const name of Object.keys(components.schemas)) expect(body).toContain(`### ${name}\n`);
    for (const nested of ['faultyItem.sku', 'items[].sku', 'tracking.carrierName', 'attempts[].statusCode'])
      expect(body).toContain(`| \`${nested}\` |`);
    for (const [name, schema] of Object.entries<{ enum?: string[] }>(components.schemas)) {
      const section = body.split(`\n### ${name}\n`)[1].split('\n### ')[0];
      expect(section.includes('No fields.'), name).toBe(name === 'Close');
      for (const value of schema.enum ?? []) expect(section, name).toContain(`\`${value}\``);
    }
    expect(body).toContain('### CreateOfflineRepair\n\n| field | type | required |');
    expect(body).toContain('### OfflineRepair\n\n| field | type | always there |');
  });
});

describe('the address of the service in texts and errors', () => {
  it('is PUBLIC_URL if it is set, whatever the headers say', async () => {
    const t = await harness({ env: { PUBLIC_URL: 'https://shop.example.org' } });
    const headers = { 'x-forwarded-host': 'evil.example' };
    for (const path of ['/llms.txt', '/docs/quick-start.md']) {
      const { body } = await ask(t, path, headers);
      expect(body).toContain('https://shop.example.org/');
      expect(body).not.toContain('evil.example');
    }
    const response = await t.get('/offline-repairs', { key: 'wrong', headers });
    expect(response).toFailWith(401);
    expect(response.body.docs).toBe('https://shop.example.org/docs/errors#UNAUTHENTICATED');
  });

  it('is otherwise the address of the request, also behind a proxy, and is not cached', async ({ t }) => {
    const proxied = { 'x-forwarded-host': 'shop.example.org', 'x-forwarded-proto': 'https' };
    for (const [headers, url] of [
      [{}, t.url],
      [proxied, 'https://shop.example.org'],
    ] as const) {
      const text = await ask(t, '/docs/quick-start.md', headers);
      expect(text.body).toContain(`export BASE=${url}${BASE_PATH}\n`);
      expect(text.headers.get('cache-control')).toBe('no-store');
      for (const [path, code] of [
        ['/offline-repairs', 'UNAUTHENTICATED'],
        ['/nothing', 'ROUTE_NOT_FOUND'],
        ['/admin/api/session', 'SIGNED_OUT'],
      ] as const)
        expect((await ask(t, path, headers)).body.docs).toBe(`${url}/docs/errors#${code}`);
    }
  });

  it('never contains an invalid host', async ({ t }) => {
    const commands = ['$(reboot)', '`whoami`', '"><script>', "a'b", '-x'];
    for (const host of ['evil.example/path', 'evil host', 'a@b', ...commands, 'x'.repeat(300)]) {
      const headers = { 'x-forwarded-host': host };
      const response = await ask(t, '/docs/quick-start.md', headers);
      expect(response).toHaveStatus(200);
      expect(response.body).not.toContain(host);
      expect(response.body).toContain(t.ctx.config.publicUrl);
      const { docs } = (await ask(t, '/nothing', headers)).body;
      expect(docs).toBe(`${t.ctx.config.publicUrl}/docs/errors#ROUTE_NOT_FOUND`);
    }
  });
});
