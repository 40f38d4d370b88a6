// Writes the interactive reference into dist/docs: one page and its two scripts, compressed, with a hash of their content in
// their names. Built where a source is newer, like the admin app. Everything comes from this service, and no script is inline.

import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compress } from './compress.mjs';
import { isFresh } from './fresh.mjs';

const BUILT = fileURLToPath(new URL('../dist/docs', import.meta.url));
const ASSETS = join(BUILT, 'assets');

const FAVICON =
  'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"%3E%3Cpath d="M6 2 1 7l5 5V9h4a3 3 0 0 1 0 6h5a6 6 0 0 0-5-10H6z" fill="%231c7ed6"/%3E%3C/svg%3E';

const configuration = (documentUrl) => ({
  url: documentUrl,
  withDefaultFonts: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  orderSchemaPropertiesBy: 'preserve',
  favicon: FAVICON,
  telemetry: false,
  persistAuth: false,
});

const page = (scripts) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Handback API reference</title>
  </head>
  <body>
    <div id="app"></div>
${scripts.map((name) => `    <script src="assets/${name}"></script>`).join('\n')}
  </body>
</html>
`;

/** The reference's own script, as its plugin for Fastify serves it. */
const referenceScript = async (plugin) => {
  const { fastify } = await import('fastify');
  const app = fastify();
  await app.register(plugin, { routePrefix: '/', configuration: { content: {} } });
  const { statusCode, rawPayload } = await app.inject({ url: '/js/scalar.js' });
  if (statusCode !== 200) throw new Error(`the reference has no script any more: ${statusCode}`);
  return rawPayload;
};

const writeAsset = (name, content) => {
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 10);
  const file = `${name}-${hash}.js`;
  writeFileSync(join(ASSETS, file), content);
  // The large one takes ten seconds.
  compress(join(ASSETS, file), { keep: true });
  return file;
};

const plugin = isFresh(join(BUILT, 'index.html.br'), ['contract'])
  ? null
  : await import('@scalar/fastify-api-reference').catch(() => 'absent');
if (plugin === 'absent')
  process.stdout.write('reference page not built: @scalar/fastify-api-reference is not installed\n');
else if (plugin) {
  const { BASE_PATH } = await import('../contract/common.ts');
  mkdirSync(ASSETS, { recursive: true });
  const start = `Scalar.createApiReference('#app', ${JSON.stringify(configuration(`${BASE_PATH}/openapi.json`))});\n`;
  const scripts = [
    writeAsset('reference', await referenceScript(plugin.default)),
    writeAsset('start', start),
  ];
  for (const old of readdirSync(ASSETS))
    if (!scripts.some((name) => old.startsWith(name))) rmSync(join(ASSETS, old));
  writeFileSync(join(BUILT, 'index.html'), page(scripts));
  compress(join(BUILT, 'index.html'));
}
