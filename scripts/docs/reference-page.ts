import scalar from '@scalar/fastify-api-reference';
import { fastify } from 'fastify';
import { BASE_PATH } from '../../contract/common.ts';
import { type Assets, FAVICON, layOutBare } from './layout.ts';
import { type DocsPage, PAGES } from './pages.ts';

// The interactive reference. Its script is large, so this is the only page that loads it.

const configuration = {
  withDefaultFonts: false,
  // The style of the other pages has its colours.
  theme: 'none',
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  // The top bar has one for all pages.
  hideDarkModeToggle: true,
  // The search of the whole documentation finds calls too.
  hideSearch: true,
  showDeveloperTools: 'never',
  orderSchemaPropertiesBy: 'preserve',
  favicon: FAVICON,
  telemetry: false,
  persistAuth: false,
};

/** What the library's script shows in an empty field for a key, in base64; it has no option for that. */
const PLACEHOLDER = 'QUxMIFlPVVIgQkFTRSBBUkUgQkVMT05HIFRPIFVT';

/** The reference's own script, as its plugin for Fastify serves it. */
const scalarScript = async (): Promise<string> => {
  const app = fastify();
  await app.register(scalar, { routePrefix: '/', configuration: { content: {} } });
  const { statusCode, payload } = await app.inject({ url: '/js/scalar.js' });
  if (statusCode !== 200) throw new Error(`the reference has no script any more: ${statusCode}`);
  return payload.replaceAll(PLACEHOLDER, 'handback_ext_…');
};

/** Its scripts, by name. */
export const referenceScripts = async (): Promise<[string, string][]> => [
  ['reference', await scalarScript()],
  [
    'start',
    `Scalar.createApiReference('#app', { ...${JSON.stringify(configuration)}, url: new URL('..${BASE_PATH}/openapi.json', location).href, forceDarkModeState: document.documentElement.dataset.theme });\n`,
  ],
];

export const referencePage = (assets: Assets, scripts: string[]): string => {
  const page = PAGES.find(({ name }) => name === 'reference') as DocsPage;
  const loaded = scripts.map((name) => `<script src="assets/${name}" defer></script>`);
  return layOutBare(
    page,
    'Handback API reference',
    assets,
    `<div id="app"></div>\n    ${loaded.join('\n    ')}`,
  );
};
