import { fc, it } from '@fast-check/vitest';
import { verify } from '@octokit/webhooks-methods';
import { expect } from 'vitest';
import { VERSION } from '../../src/service/config.ts';
import { headersOf, signatureOf } from '../../src/webhooks/worker/send.ts';

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

it('goes with the body in a header, beside what tells one event and attempt from another', () => {
  const body = Buffer.from('{"event":"offline_repair.closed"}');
  const signed = { secret: 'whsec_1', id: 'event-1', event: 'offline_repair.closed', attempt: 3, body };
  expect(headersOf(signed)).toEqual({
    'content-type': 'application/json',
    'user-agent': `Handback/${VERSION}`,
    'x-webhook-signature': signatureOf('whsec_1', body),
    'x-webhook-id': 'event-1',
    'x-webhook-event': 'offline_repair.closed',
    'x-webhook-attempt': '3',
  });
});
