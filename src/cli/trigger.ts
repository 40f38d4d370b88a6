import type { WebhookEventName } from '../../contract/webhook-event.ts';
import { bodyOf } from '../events/event.ts';
import { newId } from '../ids.ts';
import { addressGuard } from '../webhooks/address-guard.ts';
import { isAcknowledged } from '../webhooks/policy.ts';
import { createSender, signatureOf } from '../webhooks/worker/send.ts';
import { CliFailure, print, printable } from './output.ts';
import { sampleData } from './sample-events.ts';

const MOST_ANSWER_SHOWN = 2_000;

interface TriggerOptions {
  to: string;
  secret: string;
  json?: boolean;
}

/** Sends one event as the dispatcher would, once, about a return that does not exist (decision 130). */
export const trigger = async (
  event: WebhookEventName,
  { to, secret, json }: TriggerOptions,
): Promise<void> => {
  const nowMs = Date.now();
  const id = newId(nowMs);
  const body = Buffer.from(bodyOf(event, nowMs, sampleData(event, nowMs)));
  // Whoever types the address may call it: the guard is for addresses that come from tenants.
  const sender = createSender(addressGuard({ allowPrivate: true }));
  const pieces: Buffer[] = [];
  const start = performance.now();
  const outcome = await sender
    .send({ url: to, secret, id, event, attempt: 1, body, onAnswer: (piece) => pieces.push(piece) })
    .finally(() => sender.close());
  const answer = Buffer.concat(pieces).toString('utf8').slice(0, MOST_ANSWER_SHOWN);
  const statusCode = outcome?.statusCode ?? null;
  print(
    {
      event,
      id,
      to,
      signature: signatureOf(secret, body),
      body: body.toString('utf8'),
      statusCode,
      answer: json ? answer : printable(answer),
      error: outcome?.error ?? null,
      durationMs: Math.round(performance.now() - start),
    },
    json,
  );
  if (statusCode === null) throw new CliFailure(`the receiver did not answer: ${outcome?.error}`);
  if (!isAcknowledged(statusCode))
    throw new CliFailure(`the receiver answered ${statusCode}: only a 2xx acknowledges an event`);
};
