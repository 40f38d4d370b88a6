import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { z } from 'zod';
import { kindOfEvent, RETURN_KINDS } from '../../contract/kinds.ts';
import { RETURN_MOVES } from '../../contract/lifecycle.ts';
import { RETURN_VIEWS, WEBHOOK_EVENT_DATA, type WebhookEventName } from '../../contract/webhook-event.ts';
import { bodyOf } from '../events/event.ts';
import { newId } from '../lib/ids.ts';
import { toIso } from '../lib/time.ts';
import { CliFailure } from '../platform/start-failure.ts';
import { addressGuard } from '../webhooks/address-guard.ts';
import { testEventData } from '../webhooks/outbox.ts';
import { isAcknowledged } from '../webhooks/policy.ts';
import { createSender, signatureOf } from '../webhooks/worker/send.ts';
import { print } from './command.ts';

// Developers of webhook receivers use these commands: `listen` receives events, `trigger` sends one.

// --- listen ---

const printLine = (line: string): void => void process.stdout.write(`${line}\n`);

export const listen = async (options: { port: number; secret?: string; answer: number; hang?: boolean }) => {
  const { port, secret, answer, hang } = options;
  // The command never ends by itself, so it exits when the reader of its output goes away.
  process.stdout.on('error', () => process.exit());
  const server = createServer(async (request, response) => {
    const { headers } = request;
    const body = await buffer(request).catch(() => null);
    if (!body) return printLine(`\n${new Date().toISOString()}  a request that the sender aborted`);
    const signature = String(headers['x-webhook-signature'] ?? '');
    printLine(
      `\n${new Date().toISOString()}  ${headers['x-webhook-event'] ?? '(no event)'}  attempt ${headers['x-webhook-attempt'] ?? '?'}` +
        `\nid         ${headers['x-webhook-id'] ?? '-'}\nsignature  ${describeSignature(secret, signature, body)}` +
        `\nanswered   ${hang ? 'not at all (--hang)' : answer}\n${formatBody(body)}`,
    );
    if (!hang) response.writeHead(answer).end();
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const { port: actualPort } = server.address() as AddressInfo;
  printLine(`Listening on http://127.0.0.1:${actualPort}; Ctrl-C ends it.`);
  printLine(
    'To receive events, run the service with WEBHOOK_ALLOW_PRIVATE_NETWORKS=true and give a client this webhook URL.',
  );
  if (!secret) printLine('Without --secret, signatures are shown but not verified.');
};

/** The comparison need not take constant time: only the developer sees the result, and the response does not depend on it. */
const describeSignature = (secret: string | undefined, signature: string, body: Buffer): string => {
  if (!signature) return 'MISSING';
  if (!secret) return `${signature} (not checked)`;
  return signature === signatureOf(secret, body) ? 'holds' : 'DOES NOT HOLD';
};

const formatBody = (body: Buffer): string => {
  try {
    return JSON.stringify(JSON.parse(body.toString('utf8')), null, 2);
  } catch {
    return body.toString('utf8');
  }
};

// --- trigger ---

const MAX_RESPONSE_SHOWN = 2_000;

/** Sends one event like the dispatcher, in a single attempt and about a return that does not exist. */
export const trigger = async (
  event: WebhookEventName,
  { to, secret, json }: { to: string; secret: string; json?: boolean },
): Promise<void> => {
  const nowMs = Date.now();
  const id = newId(nowMs);
  const body = Buffer.from(bodyOf(event, nowMs, sampleData(event, nowMs)));
  // The operator may use any address, since the guard is only for addresses from tenants.
  const sender = createSender(addressGuard({ allowPrivate: true }));
  const chunks: Buffer[] = [];
  const start = performance.now();
  const outcome = await sender
    .send({ url: to, secret, id, event, attempt: 1, body, onChunk: (chunk) => chunks.push(chunk) })
    .finally(() => sender.close());
  const response = Buffer.concat(chunks).toString('utf8').slice(0, MAX_RESPONSE_SHOWN);
  const statusCode = outcome?.statusCode ?? null;
  print(
    {
      event,
      id,
      to,
      signature: signatureOf(secret, body),
      body: body.toString('utf8'),
      statusCode,
      response,
      error: outcome?.error ?? null,
      durationMs: Math.round(performance.now() - start),
    },
    json,
  );
  if (statusCode === null) throw new CliFailure(`the receiver did not respond: ${outcome?.error}`);
  if (!isAcknowledged(statusCode))
    throw new CliFailure(`the receiver responded with ${statusCode}: only a 2xx acknowledges an event`);
};

/** Fields of some events; the schema of an event drops the others. */
const EXTRA_FIELDS = {
  trackingNumber: 'JD0146000034',
  carrierName: 'DHL',
  assignedToId: 'tech-12',
  offlineDisposition: 'RESTOCK_MASTER',
};

/** The example of a return from the API reference, with current times. */
const currentExample = <Schema extends z.ZodType>(schema: Schema, nowMs: number): z.infer<Schema> => {
  const [example] = (schema.meta()?.['examples'] ?? []) as object[];
  const now = toIso(nowMs);
  return schema.parse({ ...example, id: newId(nowMs), statusSince: now, createdAt: now, updatedAt: now });
};

const sampleData = (event: WebhookEventName, nowMs: number): object => {
  const kind = kindOfEvent(event);
  if (!kind) return testEventData(nowMs);
  const rma = currentExample(RETURN_VIEWS[kind], nowMs);
  const schema = WEBHOOK_EVENT_DATA[event];
  if (schema === RETURN_VIEWS[kind]) return rma;
  const move = RETURN_MOVES.findLast((each) => each.event === event);
  const previousStatus = move?.from ? move.from.at(-1) : rma.status;
  const status = move ? (move.to ?? previousStatus) : RETURN_KINDS[kind].ended.at(-1);
  const received = 'items' in rma && {
    items: rma.items.map((item) => ({ ...item, received: item.quantity, accepted: item.quantity })),
    creditAmount: rma.declaredAmount,
  };
  const extra = { ...EXTRA_FIELDS, erasedAt: toIso(nowMs) };
  return schema.parse({ ...rma, ...received, ...extra, previousStatus, status });
};
