import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/process.ts';

// `npm run audit:packages` with a registry of our own, which says what the test wants to hear.

const SCRIPT = fileURLToPath(new URL('../../scripts/audit.ts', import.meta.url));

const advisory = (severity: string) => ({
  undici: [
    {
      id: 1,
      url: 'https://example.com/advisory',
      title: 'a fault',
      severity,
      vulnerable_versions: '>=0',
      cwe: [],
      cvss: { score: 0, vectorString: null },
    },
  ],
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

it.each(['high', 'critical'])('a fault of severity %s fails', async (severity) => {
  const { status, said } = await auditWith(200, advisory(severity));
  expect(said).toContain(`${severity}: undici`);
  expect(status).toBe(1);
});

it('a lesser fault is counted and does not fail', async () => {
  const { status, said } = await auditWith(200, advisory('moderate'));
  expect(said).toMatch(/^dependencies audited: .*1 moderate/);
  expect(status).toBe(0);
});

it('none is none', async () => {
  const { status, said } = await auditWith(200, {});
  expect(said).toMatch(/^dependencies audited: .*0 high, 0 critical/);
  expect(status).toBe(0);
});

it('a registry that does not answer such questions is told from one that found nothing', async () => {
  const { status, said } = await auditWith(405, {});
  expect(said).toMatch(/^WARNING: DEPENDENCIES NOT AUDITED/);
  expect(said).not.toContain('127.0.0.1');
  expect(status).toBe(0);
});
