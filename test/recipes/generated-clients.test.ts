import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { harness } from '../support/harness.ts';
import { ran } from '../support/process.ts';
import { needs } from '../support/tools.ts';
import { scaled } from '../support/until.ts';

// Clients as integrators generate them, each tool with its default flags, and a till written against each: it compiles under
// `strict`, and it runs.

const FOLDER = fileURLToPath(new URL('../../generators', import.meta.url));
const MODULES = join(FOLDER, 'node_modules');
const GENERATED = join(FOLDER, 'generated');

const runs = (file: string, args: string[], env: Record<string, string> = {}) =>
  ran(process.execPath, [file, ...args], { cwd: FOLDER, env: { ...process.env, ...env } });

const DOCUMENT = './generated/openapi.json';
/** By the name of its till: the tool's program, and how its own guide says to call it. */
const TOOLS: Record<string, [program: string, ...args: string[]]> = {
  'openapi-typescript': [
    'openapi-typescript/bin/cli.js',
    DOCUMENT,
    '--output',
    'generated/openapi-typescript.ts',
  ],
  'hey-api': ['@hey-api/openapi-ts/bin/run.js', '--input', DOCUMENT, '--output', 'generated/hey-api'],
  orval: ['orval/dist/bin/orval.js', '--input', DOCUMENT, '--output', 'generated/orval.ts'],
  'swagger-typescript-api': [
    'swagger-typescript-api/dist/cli.mjs',
    ...['generate', '--path', DOCUMENT, '--output', 'generated', '--name', 'swagger-typescript-api.ts'],
  ],
};

it('generated clients compile under strict with a till that creates, moves and reads', {
  timeout: scaled(300_000),
  ...needs('generators'),
}, async () => {
  const t = await harness();
  rmSync(GENERATED, { recursive: true, force: true });
  mkdirSync(GENERATED);
  writeFileSync(join(GENERATED, 'openapi.json'), JSON.stringify(t.app.swagger()));
  for (const [program, ...args] of Object.values(TOOLS)) {
    const generated = await runs(join(MODULES, program), args);
    expect(generated, generated.output).toMatchObject({ status: 0 });
  }
  expect(await runs(join(MODULES, 'typescript/bin/tsc'), [])).toEqual({ status: 0, output: '' });

  for (const name of Object.keys(TOOLS)) {
    // They all call from one address, so each has a service of its own, whose limits are not used up.
    const { url, client } = await harness();
    const env = { HANDBACK_URL: url, HANDBACK_API_KEY: client.apiKey };
    const till = await runs(join(GENERATED, 'compiled', `${name}.js`), [], env);
    expect(till, till.output).toMatchObject({ status: 0 });
    expect(JSON.parse(till.output), name).toEqual({
      created: '#RMA-000001',
      listed: true,
      status: 'OFFLINE_REPAIR',
      timeline: ['CREATED', 'STATUS_CHANGED'],
      tradeReturn: '#RMA-000002',
      events: ['KETTLE-17', 'OFFLINE_DIAGNOSTICS', 'Northwind Interiors'],
      isMissing: true,
    });
  }
});
