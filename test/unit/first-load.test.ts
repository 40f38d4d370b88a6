import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, type Rolldown } from 'vite';
import { beforeAll, expect, it, vi } from 'vitest';

// What a browser loads before a page of the admin app can be used: the app as it is built for people, weighed. The font is weighed by
// itself: the page can be used before it is there, and no later page loads it again.

const MOST_BYTES = 200_000;
const MOST_FONT_BYTES = 70_000;
/** Each file is a request; all users behind one address share the limit for pages. */
const MOST_FILES = 20;
const ADMIN = fileURLToPath(new URL('../../admin/', import.meta.url));

let files = new Map<string, Rolldown.OutputAsset | Rolldown.OutputChunk>();

beforeAll(async () => {
  vi.stubEnv('NODE_ENV', 'production');
  const built = await build({
    configFile: `${ADMIN}vite.config.ts`,
    logLevel: 'error',
    build: { write: false },
  });
  vi.unstubAllEnvs();
  if (!('output' in built)) throw new Error('not one build');
  files = new Map(built.output.map((file) => [file.fileName, file]));
});

const chunks = () => [...files.values()].filter((file) => file.type === 'chunk');

const chunkOf = (module: string): Rolldown.OutputChunk => {
  const found = chunks().find(({ facadeModuleId }) => facadeModuleId === `${ADMIN}${module}`);
  if (!found) throw new Error(`${module} is no part by itself`);
  return found;
};

/** A chunk with everything it imports, and the styles. */
const loadedFor = (chunk: Rolldown.OutputChunk, seen = new Set<string>()): Set<string> => {
  if (seen.has(chunk.fileName)) return seen;
  seen.add(chunk.fileName);
  for (const style of chunk.viteMetadata?.importedCss ?? []) seen.add(style);
  for (const name of chunk.imports) {
    const next = files.get(name);
    if (next?.type === 'chunk') loadedFor(next, seen);
  }
  return seen;
};

const weightOf = (name: string): number => {
  const file = files.get(name);
  return gzipSync(file?.type === 'chunk' ? file.code : (file?.source ?? '')).length;
};

it.each([
  ['sign-in', ['src/session/sign-in-page.tsx']],
  ['set-up', ['src/session/set-up-page.tsx']],
  ['Today, without the charts', ['src/shell/shell.tsx', 'src/today/today-page.tsx']],
  ['the list of repairs', ['src/shell/shell.tsx', 'src/returns/list/repairs-page.tsx']],
  ['the list of trade returns', ['src/shell/shell.tsx', 'src/returns/list/trade-returns-page.tsx']],
  ['a repair', ['src/shell/shell.tsx', 'src/returns/detail/repair-page.tsx']],
  ['a trade return', ['src/shell/shell.tsx', 'src/returns/detail/trade-return-page.tsx']],
])('the first load of %s is a few files below 200 kB', (_page, parts) => {
  const loaded = new Set<string>();
  for (const part of ['index.html', ...parts]) loadedFor(chunkOf(part), loaded);
  const weights = [...loaded].map((name) => ({ name, bytes: weightOf(name) }));
  expect(weights.some(({ name }) => name.endsWith('.css'))).toBe(true);
  const total = weights.reduce((sum, { bytes }) => sum + bytes, 0);
  // React and the router alone are larger than this; a smaller sum means that something was not counted.
  expect(total).toBeGreaterThan(100_000);
  expect(total).toBeLessThan(MOST_BYTES);
  expect(loaded.size).toBeLessThanOrEqual(MOST_FILES);
});

it('the font is below 70 kB, has a hashed name, and is preloaded by the page', () => {
  const fonts = [...files.values()].filter(({ fileName }) => fileName.endsWith('.woff2'));
  const sizes = fonts.map((font) => (font.type === 'asset' ? font.source.length : 0));
  expect(sizes.length).toBe(3);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(MOST_FONT_BYTES);
  expect(fonts.map(({ fileName }) => /-[\w-]{8}\.woff2$/.test(fileName))).not.toContain(false);
  const page = files.get('index.html');
  const preloaded = /rel="preload"[^>]+href="\/admin\/([^"]+)"/.exec(
    page?.type === 'asset' ? String(page.source) : '',
  );
  expect(fonts.map(({ fileName }) => fileName)).toContain(preloaded?.[1]);
});

/** Loaded with other components and never shown. */
const UNSEEN = ['CheckboxCard', 'CheckboxIndicator', 'RadioCard', 'RadioIndicator', 'ScrollArea'];

it('the styles of every used component are loaded', () => {
  const styles = globSync(['src/mantine.css', 'src/**/*.{ts,tsx}'], { cwd: ADMIN })
    .map((path) => readFileSync(`${ADMIN}${path}`, 'utf8'))
    .join('\n');
  const used = chunks().flatMap(({ moduleIds }) =>
    moduleIds.flatMap((id) => /@mantine\/core\/esm\/components\/.*\/(\w+)\.module\.mjs$/.exec(id)?.[1] ?? []),
  );
  expect(used.length).toBeGreaterThan(20);
  expect(used.filter((name) => !UNSEEN.includes(name) && !styles.includes(`/${name}.css`))).toEqual([]);
});
