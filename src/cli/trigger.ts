import type { z } from 'zod';
import { OfflineRepair } from '../../contract/offline-repair.ts';
import { TradeReturn } from '../../contract/trade-return.ts';
import { WEBHOOK_EVENT_DATA, type WebhookEventName } from '../../contract/webhook-event.ts';
import { bodyOf, type RmaEventName } from '../events/event.ts';
import { newId } from '../lib/ids.ts';
import { toIso } from '../lib/time.ts';
import { creditAmount } from '../returns/kinds/trade-return.ts';
import { addressGuard } from '../webhooks/address-guard.ts';
import { testData } from '../webhooks/outbox.ts';
import { isAcknowledged } from '../webhooks/policy.ts';
import { createSender, signatureOf } from '../webhooks/worker/send.ts';
import { CliFailure, print, printable } from './command.ts';

const MOST_ANSWER_SHOWN = 2_000;

interface TriggerOptions {
  to: string;
  secret: string;
  json?: boolean;
}

/** Sends one event as the dispatcher would, once, about a return that does not exist. */
export const trigger = async (
  event: WebhookEventName,
  { to, secret, json }: TriggerOptions,
): Promise<void> => {
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

// --- samples ---

/** What each event changes in the reference's example of a return. */
const CHANGES: Record<RmaEventName, object> = {
  'offline_repair.created': {},
  'offline_repair.tracking_uploaded': {
    status: 'OFFLINE_DIAGNOSTICS',
    trackingNumber: 'JD0146000034',
    carrierName: 'DHL',
  },
  'offline_repair.status_changed': {
    status: 'OFFLINE_REPAIR',
    previousStatus: 'OFFLINE_DIAGNOSTICS',
    assignedToId: 'tech-12',
  },
  'offline_repair.disposition_set': {
    status: 'OFFLINE_RESOLVED',
    previousStatus: 'OFFLINE_REPAIR',
    offlineDisposition: 'RESTOCK_MASTER',
  },
  'offline_repair.closed': {
    status: 'OFFLINE_CLOSED',
    previousStatus: 'OFFLINE_RESOLVED',
    offlineDisposition: 'RESTOCK_MASTER',
  },
  'trade_return.created': {},
  'trade_return.status_changed': { status: 'TRADE_APPROVED', previousStatus: 'TRADE_SUBMITTED' },
  'trade_return.credit_requested': {
    status: 'TRADE_CREDIT_REQUESTED',
    previousStatus: 'TRADE_RECEIVED',
  },
  'trade_return.resolved': { status: 'TRADE_RESOLVED', previousStatus: 'TRADE_CREDIT_REQUESTED' },
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

const sampleData = (event: WebhookEventName, nowMs: number): object => {
  if (event === 'webhook.test') return testData(nowMs);
  if (event.startsWith('offline_repair.'))
    return WEBHOOK_EVENT_DATA[event].parse({ ...fresh(OfflineRepair, nowMs), ...CHANGES[event] });
  const tradeReturn = fresh(TradeReturn, nowMs);
  const credit = { creditAmount: Number(creditAmount(tradeReturn.items)) };
  return WEBHOOK_EVENT_DATA[event].parse({ ...tradeReturn, ...credit, ...CHANGES[event] });
};
