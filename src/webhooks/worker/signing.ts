import { createHmac } from 'node:crypto';
import { VERSION } from '../../version.ts';

/** Lower-case hex HMAC-SHA256 over the exact bytes. */
export const signatureOf = (secret: string, body: Buffer): string =>
  createHmac('sha256', secret).update(body).digest('hex');

export interface Signed {
  secret: string;
  id: string;
  event: string;
  /** 1 to 4. */
  attempt: number;
  body: Buffer;
}

/** What goes with the body: who it is from, which event it is, and the proof that it is ours. */
export const headersOf = ({ secret, id, event, attempt, body }: Signed): Record<string, string> => ({
  'content-type': 'application/json',
  'user-agent': `Handback/${VERSION}`,
  'x-webhook-signature': signatureOf(secret, body),
  'x-webhook-id': id,
  'x-webhook-event': event,
  'x-webhook-attempt': String(attempt),
});
