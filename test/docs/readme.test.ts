import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { cli, ran, startServer, temporaryFolder } from '../support/process.ts';
import { needs } from '../support/tools.ts';

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

const block = (language: string, beginning: string): string => {
  const [, code] =
    new RegExp(`^\`\`\`${language}\\n(${beginning}[\\s\\S]*?)^\`\`\`$`, 'm').exec(README) ?? [];
  if (!code) throw new Error(`the README has no ${language} that begins with ${beginning}`);
  return code;
};

it(
  'the README creates a demo shop and a repair in it, with the response that it shows',
  needs('bash', 'curl'),
  async () => {
    const env = { DATA_DIR: temporaryFolder() };
    const server = await startServer(env);
    expect(block('sh', 'npx')).toContain('npx --no handback demo\n');
    const { apiKey } = await cli(['demo'], env);
    const create = block('sh', 'curl').replace(
      'http://127.0.0.1:3000',
      `-sS http://127.0.0.1:${server.port}`,
    );
    const { output } = await ran('bash', ['-c', create], { env: { ...process.env, KEY: apiKey } as never });
    const { id: _, ...shown } = JSON.parse(block('json', '\\{').replace(', …', ''));
    expect(JSON.parse(output)).toMatchObject(shown);
  },
);
