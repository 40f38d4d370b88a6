import { verify } from '@octokit/webhooks-methods';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { signatureOf } from '../../src/webhooks/worker/send.ts';

const anyText = fc.string({ unit: 'binary', minLength: 1, maxLength: 400 });
const anySecret = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 });

it('an independent library verifies the signature of a payload with any Unicode', () =>
  fc.assert(
    fc.asyncProperty(anyText, anySecret, async (text, secret) => {
      const body = JSON.stringify({ event: 'offline_repair.created', data: { notes: text } });
      const signature = signatureOf(secret, Buffer.from(body, 'utf8'));
      expect(signature).toMatch(/^[0-9a-f]{64}$/);
      expect(await verify(secret, body, `sha256=${signature}`)).toBe(true);
      expect(await verify(secret, `${body} `, `sha256=${signature}`)).toBe(false);
    }),
    { numRuns: 1000 },
  ));
