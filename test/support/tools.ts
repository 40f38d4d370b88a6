import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OASDIFF } from '../../scripts/released.ts';

// Programs that tests use and `npm ci` does not bring. A test that needs one says so with `needs`, and is skipped, with the
// reason, where it is not installed. TEST_TOOLS=none behaves as a machine that has none of them.

/** By the name that tests use; where it is not a command of that name, the places to look for it. */
const TOOLS = {
  bash: 'bash',
  chromium: [
    process.env['CHROMIUM'] ?? '',
    // Chromium without a window: the same pages in half the time.
    '/usr/bin/chromium-headless-shell',
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome-stable',
    '/usr/bin/google-chrome',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  ],
  curl: 'curl',
  // Debian's library that gives a process another clock.
  faketime: existsSync('/usr/lib')
    ? readdirSync('/usr/lib').map((folder) => join('/usr/lib', folder, 'faketime', 'libfaketime.so.1'))
    : [],
  // Of clients; `npm ci` in that folder brings them.
  generators: [fileURLToPath(new URL('../../generators/node_modules/typescript/bin/tsc', import.meta.url))],
  haproxy: 'haproxy',
  java: 'java',
  jq: 'jq',
  kubectl: 'kubectl',
  nginx: 'nginx',
  oasdiff: [OASDIFF],
  openssl: 'openssl',
  pgbouncer: 'pgbouncer',
  php: 'php',
  promtool: 'promtool',
  python3: 'python3',
  slowhttptest: 'slowhttptest',
  'systemd-analyze': 'systemd-analyze',
} as const satisfies Record<string, string | readonly string[]>;

export type Tool = keyof typeof TOOLS;

const canRun = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
};

/** Debian keeps some of them where only root's path leads. */
const FOLDERS = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'].filter(Boolean);
const ENDINGS = process.platform === 'win32' ? ['.exe', '.cmd'] : [''];

const placesOf = (places: string | readonly string[]): readonly string[] =>
  typeof places === 'string'
    ? FOLDERS.flatMap((folder) => ENDINGS.map((ending) => join(folder, `${places}${ending}`)))
    : places;

export const findTool = (tool: Tool): string | null => {
  if (process.env['TEST_TOOLS'] === 'none') return null;
  const isThere = tool === 'faketime' ? existsSync : canRun;
  return placesOf(TOOLS[tool]).find((place) => place !== '' && isThere(place)) ?? null;
};

export const toolPath = (tool: Tool): string => {
  const found = findTool(tool);
  if (!found) throw new Error(`${tool} is not installed, and the test does not say needs('${tool}')`);
  return found;
};

declare module 'vitest' {
  interface TaskMeta {
    skipReason?: string;
  }
}

interface Options {
  skip?: true;
  meta?: { skipReason: string };
}

/** Options for a test or a suite that is skipped, for this reason, where the condition does not hold. */
export const onlyIf = (condition: boolean, reason: string): Options =>
  condition ? {} : { skip: true, meta: { skipReason: reason } };

/** Options for a test or a suite that needs tools: `it('…', needs('php'), async () => …)`. */
export const needs = (...tools: Tool[]): Options => {
  const missing = tools.filter((tool) => findTool(tool) === null);
  return onlyIf(missing.length === 0, `${missing.join(' and ')} not installed`);
};
