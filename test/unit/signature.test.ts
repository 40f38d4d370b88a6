import { fc, it } from '@fast-check/vitest';
import { verify } from '@octokit/webhooks-methods';
import { expect } from 'vitest';
import { signatureOf } from '../../src/webhooks/worker/send.ts';

it.prop(
  [
    fc.string({ unit: 'binary', minLength: 1, maxLength: 400 }),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }),
  ],
  { numRuns: 1000 },
)('holds for an independent library, whatever Unicode the payload has', async (text, secret) => {
  const body = JSON.stringify({ event: 'offline_repair.created', data: { notes: text } });
  const signature = signatureOf(secret, Buffer.from(body, 'utf8'));
  expect(signature).toMatch(/^[0-9a-f]{64}$/);
  expect(await verify(secret, body, `sha256=${signature}`)).toBe(true);
  expect(await verify(secret, `${body} `, `sha256=${signature}`)).toBe(false);
});
