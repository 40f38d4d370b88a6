import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startReceiver } from '../support/receiver.ts';
import { webhookHarness } from '../support/webhooks.ts';

// The examples in docs/guide/webhooks.md, run as they stand there against a real delivery.

const DOCS = readFileSync(new URL('../../docs/guide/webhooks.md', import.meta.url), 'utf8');
const LANGUAGES = [
  { fence: 'js', file: 'verify.mjs', run: [process.execPath] },
  { fence: 'python', file: 'verify.py', run: ['python3'] },
  { fence: 'java', file: 'Verify.java', run: ['java'] },
];

const example = (fence: string): string => {
  const code = new RegExp(`\`\`\`${fence}\\n([\\s\\S]*?)\`\`\``).exec(DOCS)?.[1];
  if (!code) throw new Error(`docs/guide/webhooks.md has no ${fence} example`);
  return code;
};

/** Where the language is not installed its example cannot be run; in CI that is a failure. */
const canRun = ({ run }: (typeof LANGUAGES)[number]): boolean =>
  process.env['CI'] !== undefined || spawnSync(run[0] ?? '', ['--version']).error === undefined;

it.each(LANGUAGES.filter(canRun))(
  'the $fence example tells a true signature from a false one',
  async ({ fence, file, run }) => {
    const receiver = await startReceiver();
    const t = await webhookHarness();
    const client = await t.addReceiver(receiver.url);
    await t.create(client, { customerName: 'Zoë Ångström 👩‍🔧', notes: 'ligne 1\nligne 2 "citée"' });
    const [{ bytes, headers }] = (await receiver.got(1)) as [(typeof receiver.received)[0]];
    const signature = String(headers['x-webhook-signature']);

    const folder = mkdtempSync(join(tmpdir(), 'handback-example-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, file), example(fence));
    const [program, ...first] = run as [string, ...string[]];
    const verdict = (secret: string, given: string, body: Buffer) =>
      execFileSync(program, [...first, join(folder, file), secret, given], {
        input: body,
        encoding: 'utf8',
      }).trim();

    expect(verdict(client.webhookSecret, signature, bytes)).toBe('valid');
    expect(verdict(client.webhookSecret, signature, Buffer.concat([bytes, Buffer.from(' ')]))).toBe(
      'invalid',
    );
    expect(verdict('whsec_another', signature, bytes)).toBe('invalid');
    expect(verdict(client.webhookSecret, '00', bytes)).toBe('invalid');
  },
);
