import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { harness } from '../support/harness.ts';
import { ran } from '../support/process.ts';
import { scaled } from '../support/until.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const RECIPE = join(ROOT, 'recipes/typescript-client');

/** The recipe as a reader copies it, where its packages are found: what it writes must not get among the files of the documentation. */
const copyOfRecipe = (): string => {
  const folder = mkdtempSync(join(ROOT, 'dist', 'typescript-client-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const file of ['client.ts', 'package.json', 'tsconfig.json'])
    copyFileSync(join(RECIPE, file), join(folder, file));
  symlinkSync(join(RECIPE, 'node_modules'), join(folder, 'node_modules'));
  return folder;
};

/** Runs one of the recipe's own scripts, as its README says. */
const npmIn = (folder: string) => (script: string, env: Record<string, string>) =>
  ran('npm', ['run', '--silent', script], { cwd: folder, env: { ...process.env, ...env } });

/** The compiler complains of a line that is said to be wrong and is not. */
const WRONG = `import createClient from 'openapi-fetch';
import type { paths } from './handback.d.ts';
const api = createClient<paths>({});
// @ts-expect-error: there is no such disposition
await api.POST('/offline-repairs/{id}/resolve', { params: { path: { id: 'x' } }, body: { offlineDisposition: 'SHRED' } });
// @ts-expect-error: there is no such path
await api.GET('/offline-repair');
`;

it('the TypeScript client uses types generated from the document, which reject invalid calls', {
  timeout: scaled(180_000),
}, async () => {
  const t = await harness();
  const env = { HANDBACK_URL: t.url, HANDBACK_API_KEY: t.client.apiKey };
  const folder = copyOfRecipe();
  const npm = npmIn(folder);
  const types = await npm('types', env);
  expect(types, types.output).toMatchObject({ status: 0 });

  writeFileSync(join(folder, 'wrong.ts'), WRONG);
  expect(await npm('check', env)).toEqual({ status: 0, output: '' });

  // Node before 22.18 runs no TypeScript.
  const ran = await npm('start', { ...env, NODE_OPTIONS: '--no-experimental-strip-types' });
  expect(ran).toMatchObject({
    status: 0,
    output: expect.stringContaining('#RMA-000001 was OFFLINE_DIAGNOSTICS and is OFFLINE_REPAIR\n'),
  });
  const { body } = await t.get('/offline-repairs');
  expect(body.items).toMatchObject([
    { orderNumber: 'SO-10042', status: 'OFFLINE_REPAIR', assignedToId: 'tech-12' },
  ]);
});
