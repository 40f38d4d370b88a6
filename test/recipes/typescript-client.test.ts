import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { harness } from '../support/harness.ts';

const FOLDER = fileURLToPath(new URL('../../recipes/typescript-client', import.meta.url));

/** Runs one of the recipe's own scripts, as its README says. */
const npm = (script: string, env: Record<string, string>) =>
  new Promise<{ status: number; output: string }>((resolve) => {
    const child = execFile(
      'npm',
      ['run', '--silent', script],
      { cwd: FOLDER, env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env } },
      (_error, stdout, stderr) => resolve({ status: child.exitCode ?? -1, output: stdout + stderr }),
    );
  });

it('makes types from the document, which the client fits, and which refuse what is wrong', async () => {
  const t = await harness();
  const env = { HANDBACK_URL: t.url, HANDBACK_API_KEY: t.client.apiKey };
  expect(await npm('types', env)).toMatchObject({ status: 0 });
  expect(await npm('check', env)).toMatchObject({ status: 0 });

  const ran = await npm('start', env);
  expect(ran.output).toContain('#RMA-000001 was OFFLINE_DIAGNOSTICS and is OFFLINE_REPAIR\n');
  expect(ran.status).toBe(0);
  const { body } = await t.get('/offline-repairs');
  expect(body.items).toMatchObject([
    { orderNumber: 'SO-10042', status: 'OFFLINE_REPAIR', assignedToId: 'tech-12' },
  ]);

  const wrong = join(FOLDER, 'wrong.ts');
  onTestFinished(() => rmSync(wrong, { force: true }));
  writeFileSync(
    wrong,
    `import createClient from 'openapi-fetch';
import type { paths } from './handback.d.ts';
const api = createClient<paths>({});
await api.POST('/offline-repairs/{id}/resolve', {
  params: { path: { id: 'x' } },
  body: { offlineDisposition: 'SHRED' },
});
`,
  );
  const refused = await npm('check', env);
  expect(refused.output).toMatch(/wrong\.ts\(6,11\).*"SHRED".*RESTOCK_MASTER/s);
  expect(refused.status).not.toBe(0);
});
