import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/process.ts';

// `npm run audit:packages` with a registry of our own, which says what the test wants to hear.

const SCRIPT = fileURLToPath(new URL('../../scripts/audit.ts', import.meta.url));

const ADVISORY = {
  id: 1,
  url: 'https://example.com/advisory',
  title: 'x',
  vulnerable_versions: '>=0',
  cwe: [],
};
const advisory = (severity: string) => ({
  undici: [{ ...ADVISORY, severity, cvss: { score: 0, vectorString: null } }],
});

const auditWith = async (status: number, answer: object) => {
  const registry = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(request.method === 'POST' ? status : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(request.method === 'POST' ? answer : {}));
    });
  });
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void registry.close());
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: temporaryFolder(),
    npm_config_registry: `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`,
    npm_config_fetch_retries: '0',
  };
  return new Promise<{ status: number; said: string }>((resolve) =>
    execFile(process.execPath, [SCRIPT], { env }, (error, said) =>
      resolve({ status: error ? Number(error.code) : 0, said }),
    ),
  );
};

it.each<[what: string, status: number, answer: object, exit: number, says: RegExp]>([
  ['an advisory of severity high fails', 200, advisory('high'), 1, /high: undici/],
  ['an advisory of severity critical fails', 200, advisory('critical'), 1, /critical: undici/],
  ['a lesser one is counted', 200, advisory('moderate'), 0, /^dependencies audited: .*1 moderate/],
  ['none is none', 200, {}, 0, /^dependencies audited: .*0 high, 0 critical/],
  ['a registry that cannot answer is named as such', 405, {}, 0, /^WARNING: DEPENDENCIES NOT AUDITED/],
])('%s', async (_what, status, answer, exit, says) => {
  const found = await auditWith(status, answer);
  expect(found).toEqual({ status: exit, said: expect.stringMatching(says) });
  expect(found.said).not.toContain('127.0.0.1');
});
