import { timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { z } from 'zod';
import type { RmaEventName } from '../../contract/event-feed.ts';
import { OfflineRepair } from '../../contract/offline-repair.ts';
import { TradeReturn } from '../../contract/trade-return.ts';
import { WEBHOOK_EVENT_DATA, type WebhookEventName } from '../../contract/webhook-event.ts';
import { bodyOf } from '../events/event.ts';
import { newId } from '../lib/ids.ts';
import { toIso } from '../lib/time.ts';
import { addressGuard } from '../webhooks/address-guard.ts';
import { testData } from '../webhooks/outbox.ts';
import { isAcknowledged } from '../webhooks/policy.ts';
import { createSender, signatureOf } from '../webhooks/worker/send.ts';
import { CliFailure, print, printable } from './command.ts';

// What developers of webhook receivers use: `listen` receives, `trigger` sends.

// --- listen ---

interface ListenOptions {
  port: number;
  secret?: string;
  answer: number;
  hang?: boolean;
}

/** A receiver for development: shows each delivery as it comes and says whether its signature holds. */
export const listen = async (options: ListenOptions, say: (line: string) => void): Promise<void> => {
  const { port, secret, answer, hang } = options;
  const server = createServer(async (request, response) => {
    const { headers } = request;
    const body = await buffer(request).catch(() => null);
    if (!body) return say(`\n${new Date().toISOString()}  a request that its sender broke off`);
    const signature = String(headers['x-webhook-signature'] ?? '');
    say(
      `\n${new Date().toISOString()}  ${headers['x-webhook-event'] ?? '(no event)'}  attempt ${headers['x-webhook-attempt'] ?? '?'}` +
        `\nid         ${headers['x-webhook-id'] ?? '-'}\nsignature  ${verdict(secret, signature, body)}` +
        `\nanswered   ${hang ? 'not at all (--hang)' : answer}\n${pretty(body)}`,
    );
    if (!hang) response.writeHead(answer).end();
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const { port: actualPort } = server.address() as AddressInfo;
  say(`Listening on http://127.0.0.1:${actualPort}; Ctrl-C ends it.`);
  say(
    'To be called, run the service with WEBHOOK_ALLOW_PRIVATE_NETWORKS=true and give a client this webhook URL.',
  );
  if (!secret) say('Without --secret signatures are shown, not checked.');
};

const verdict = (secret: string | undefined, signature: string, body: Buffer): string => {
  if (!signature) return 'MISSING';
  if (!secret) return `${signature} (not checked)`;
  const expected = Buffer.from(signatureOf(secret, body));
  const given = Buffer.from(signature);
  return given.length === expected.length && timingSafeEqual(given, expected) ? 'holds' : 'DOES NOT HOLD';
};

const pretty = (body: Buffer): string => {
  try {
    return JSON.stringify(JSON.parse(body.toString('utf8')), null, 2);
  } catch {
    return body.toString('utf8');
  }
};

// --- trigger ---

const MAX_ANSWER_SHOWN = 2_000;

interface TriggerOptions {
  to: string;
  secret: string;
  json?: boolean;
}

/** Sends one event as the dispatcher would, once, about a return that does not exist. */
export const trigger = async (event: WebhookEventName, options: TriggerOptions): Promise<void> => {
  const { to, secret, json } = options;
  const nowMs = Date.now();
  const id = newId(nowMs);
  const body = Buffer.from(bodyOf(event, nowMs, sampleData(event, nowMs)));
  // The operator may call any address: the guard is for addresses that come from tenants.
  const sender = createSender(addressGuard({ allowPrivate: true }));
  const pieces: Buffer[] = [];
  const start = performance.now();
  const outcome = await sender
    .send({ url: to, secret, id, event, attempt: 1, body, onAnswer: (piece) => pieces.push(piece) })
    .finally(() => sender.close());
  const answer = Buffer.concat(pieces).toString('utf8').slice(0, MAX_ANSWER_SHOWN);
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

/** The statuses before and after each event; null: it holds the reference's example of a return. */
const STATUSES: Record<RmaEventName, [before: string, after: string] | null> = {
  'offline_repair.created': null,
  'offline_repair.tracking_uploaded': ['OFFLINE_DIAGNOSTICS', 'OFFLINE_DIAGNOSTICS'],
  'offline_repair.status_changed': ['OFFLINE_DIAGNOSTICS', 'OFFLINE_REPAIR'],
  'offline_repair.disposition_set': ['OFFLINE_REPAIR', 'OFFLINE_RESOLVED'],
  'offline_repair.closed': ['OFFLINE_RESOLVED', 'OFFLINE_CLOSED'],
  'offline_repair.updated': null,
  'offline_repair.erased': ['OFFLINE_CLOSED', 'OFFLINE_CLOSED'],
  'trade_return.created': null,
  'trade_return.status_changed': ['TRADE_APPROVED', 'TRADE_RECEIVED'],
  'trade_return.items_received': ['TRADE_RECEIVED', 'TRADE_RECEIVED'],
  'trade_return.credit_requested': ['TRADE_RECEIVED', 'TRADE_CREDIT_REQUESTED'],
  'trade_return.resolved': ['TRADE_CREDIT_REQUESTED', 'TRADE_RESOLVED'],
  'trade_return.updated': null,
  'trade_return.erased': ['TRADE_RESOLVED', 'TRADE_RESOLVED'],
};
/** An event's schema keeps only its own. */
const EXTRA = {
  trackingNumber: 'JD0146000034',
  carrierName: 'DHL',
  assignedToId: 'tech-12',
  offlineDisposition: 'RESTOCK_MASTER',
};

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const fresh = <Schema extends z.ZodType>(schema: Schema, nowMs: number): z.infer<Schema> => {
  const [example = {}] = (schema.meta()?.['examples'] ?? []) as object[];
  const fields = Object.entries(example).map(([field, value]) => [
    field,
    typeof value === 'string' && ISO_TIME.test(value) ? toIso(nowMs) : value,
  ]);
  return schema.parse({ ...Object.fromEntries(fields), id: newId(nowMs) });
};

const receivedInFull = ({ items, declaredAmount }: TradeReturn) => ({
  items: items.map((item) => ({ ...item, received: item.quantity, accepted: item.quantity })),
  creditAmount: declaredAmount,
});

const sampleData = (event: WebhookEventName, nowMs: number): object => {
  if (event === 'webhook.test') return testData(nowMs);
  const rma = event.startsWith('offline_repair.') ? fresh(OfflineRepair, nowMs) : fresh(TradeReturn, nowMs);
  const statuses = STATUSES[event];
  if (!statuses) return rma;
  const [previousStatus, status] = statuses;
  const received = 'items' in rma ? receivedInFull(rma) : {};
  const extra = { ...EXTRA, erasedAt: toIso(nowMs) };
  return WEBHOOK_EVENT_DATA[event].parse({ ...rma, ...received, ...extra, previousStatus, status });
};
