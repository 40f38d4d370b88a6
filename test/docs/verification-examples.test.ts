import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scaled } from '../support/machine.ts';
import { startReceiver } from '../support/receiver.ts';
import { guideText, programIn, snippetsOf, workFolder } from '../support/snippets.ts';
import { needs, toolPath } from '../support/tools.ts';
import { webhookHarness } from '../support/webhooks.ts';

// The examples in docs/guide/webhooks.md, run as they stand there against a real delivery.

const LANGUAGES = [
  { file: 'verify.mjs', tool: null },
  { file: 'verify.py', tool: 'python3' },
  { file: 'verify.php', tool: 'php' },
  { file: 'Verify.java', tool: 'java' },
] as const;

for (const { file, tool } of LANGUAGES)
  it(`${file} tells a true signature from a false one`, tool ? needs(tool) : {}, async () => {
    const receiver = await startReceiver();
    const t = await webhookHarness();
    const client = await t.addReceiver(receiver.url);
    await t.create(client, { customerName: 'Zoë Ångström 👩‍🔧', notes: 'ligne 1\nligne 2 "citée"' });
    const [{ bytes, headers }] = (await receiver.got(1)) as [(typeof receiver.received)[0]];
    const signature = String(headers['x-webhook-signature']);

    const folder = workFolder();
    writeFileSync(join(folder, file), programIn('webhooks.md', file));
    const verdict = (secret: string, given: string, body: Buffer) =>
      execFileSync(tool ? toolPath(tool) : process.execPath, [join(folder, file), secret, given], {
        timeout: scaled(60_000),
        input: body,
        encoding: 'utf8',
      }).trim();

    expect(verdict(client.webhookSecret, signature, bytes)).toBe('valid');
    expect(verdict(client.webhookSecret, signature, Buffer.concat([bytes, Buffer.from(' ')]))).toBe(
      'invalid',
    );
    expect(verdict('whsec_another', signature, bytes)).toBe('invalid');
    for (const other of ['00', signature.toUpperCase(), `${signature}zz`])
      expect(verdict(client.webhookSecret, other, bytes), other).toBe('invalid');
  });

it('the values to try first belong together', () => {
  const text = guideText('webhooks.md');
  const value = (name: string) => new RegExp(`^\\| ${name} \\| \`(.+)\` \\|$`, 'm').exec(text)?.[1] ?? '';
  const signature = createHmac('sha256', value('secret')).update(value('body')).digest('hex');
  expect(value('signature')).toBe(signature);
});

it('the request that the guide shows has the headers that are sent', async () => {
  const receiver = await startReceiver();
  const t = await webhookHarness();
  await t.create(await t.addReceiver(receiver.url));
  const [{ headers }] = (await receiver.got(1)) as [(typeof receiver.received)[0]];
  const [http] = snippetsOf('webhooks.md').filter(({ language }) => language === 'http');
  const shown = [...(http?.code ?? '').matchAll(/^([\w-]+): /gm)].map(([, name]) =>
    String(name).toLowerCase(),
  );
  expect(shown.filter((name) => !(name in headers))).toEqual([]);
  expect(shown).toEqual(expect.arrayContaining(Object.keys(headers).filter((name) => name.startsWith('x-'))));
});
