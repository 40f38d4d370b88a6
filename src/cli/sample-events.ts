import type { z } from 'zod';
import { OfflineRepair } from '../../contract/offline-repair.ts';
import { TradeReturn } from '../../contract/trade-return.ts';
import type { WebhookEventData, WebhookEventName } from '../../contract/webhook-event.ts';
import type { RmaEventName } from '../events/event.ts';
import { exactNumber } from '../exact-number.ts';
import { newId } from '../ids.ts';
import { instant } from '../instant.ts';
import { creditAmount } from '../returns/kinds/trade-return.ts';
import { testData } from '../webhooks/outbox.ts';

// Events as a receiver would get them, about returns that do not exist. The returns are the examples of the reference.

const common = ({ id, rmaNumber, externalRef, externalSource }: OfflineRepair | TradeReturn) => ({
  id,
  rmaNumber,
  externalRef,
  externalSource,
});

type Samples<Kind extends string, Subject> = {
  [Name in RmaEventName & `${Kind}.${string}`]: (subject: Subject) => WebhookEventData<Name>;
};

const REPAIR_SAMPLES: Samples<'offline_repair', OfflineRepair> = {
  'offline_repair.created': (repair) => repair,
  'offline_repair.tracking_uploaded': (repair) => ({
    ...common(repair),
    status: 'OFFLINE_DIAGNOSTICS',
    trackingNumber: 'JD0146000034',
    carrierName: 'DHL',
  }),
  'offline_repair.status_changed': (repair) => ({
    ...common(repair),
    status: 'OFFLINE_REPAIR',
    previousStatus: 'OFFLINE_DIAGNOSTICS',
    assignedToId: 'tech-12',
  }),
  'offline_repair.disposition_set': (repair) => ({
    ...common(repair),
    status: 'OFFLINE_RESOLVED',
    offlineDisposition: 'RESTOCK_MASTER',
    previousStatus: 'OFFLINE_REPAIR',
  }),
  'offline_repair.closed': (repair) => ({
    ...common(repair),
    status: 'OFFLINE_CLOSED',
    previousStatus: 'OFFLINE_RESOLVED',
    offlineDisposition: 'RESTOCK_MASTER',
  }),
};

const TRADE_SAMPLES: Samples<'trade_return', TradeReturn> = {
  'trade_return.created': (tradeReturn) => tradeReturn,
  'trade_return.status_changed': (tradeReturn) => ({
    ...common(tradeReturn),
    status: 'TRADE_APPROVED',
    previousStatus: 'TRADE_SUBMITTED',
  }),
  'trade_return.credit_requested': (tradeReturn) => ({
    ...common(tradeReturn),
    status: 'TRADE_CREDIT_REQUESTED',
    previousStatus: 'TRADE_RECEIVED',
    creditAmount: exactNumber(creditAmount(tradeReturn.items)),
  }),
  'trade_return.resolved': (tradeReturn) => ({
    ...common(tradeReturn),
    status: 'TRADE_RESOLVED',
    previousStatus: 'TRADE_CREDIT_REQUESTED',
  }),
};

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** The example of a schema, with an id of its own and made just now. */
const fresh = <Schema extends z.ZodType>(schema: Schema, nowMs: number): z.infer<Schema> => {
  const [example = {}] = (schema.meta()?.['examples'] ?? []) as object[];
  const fields = Object.entries(example).map(([field, value]) => [
    field,
    typeof value === 'string' && ISO_TIME.test(value) ? instant(nowMs) : value,
  ]);
  return schema.parse({ ...Object.fromEntries(fields), id: newId(nowMs) });
};

const isRepairEvent = (event: string): event is keyof typeof REPAIR_SAMPLES => event in REPAIR_SAMPLES;

/** What the event's `data` holds. */
export const sampleData = (event: WebhookEventName, nowMs: number): object => {
  if (event === 'webhook.test') return testData(nowMs);
  return isRepairEvent(event)
    ? REPAIR_SAMPLES[event](fresh(OfflineRepair, nowMs))
    : TRADE_SAMPLES[event](fresh(TradeReturn, nowMs));
};
