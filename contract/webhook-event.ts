import { z } from 'zod';
import { Id } from './common.ts';
import { DISPOSITIONS, OFFLINE_REPAIR_STATUSES, TRADE_RETURN_STATUSES } from './lifecycle.ts';
import { OfflineRepair } from './offline-repair.ts';
import { TradeReturn } from './trade-return.ts';

// Event name → what its `data` holds. The sender builds from these, the reference shows them, receivers rely on them.

/** In the data of every event. */
const common = {
  id: Id,
  rmaNumber: z.string(),
  externalRef: z.string().nullable(),
  externalSource: z.string().nullable(),
};
const repair = { ...common, status: z.enum(OFFLINE_REPAIR_STATUSES) };
const previousRepairStatus = z.enum(OFFLINE_REPAIR_STATUSES);

const tradeReturn = { ...common, status: z.enum(TRADE_RETURN_STATUSES) };
const previousTradeStatus = z.enum(TRADE_RETURN_STATUSES);

export const WEBHOOK_EVENT_DATA = {
  'offline_repair.created': OfflineRepair,
  'offline_repair.tracking_uploaded': z.object({
    ...repair,
    trackingNumber: z.string(),
    carrierName: z.string(),
  }),
  'offline_repair.status_changed': z.object({
    ...repair,
    previousStatus: previousRepairStatus,
    assignedToId: z.string().nullable().optional().meta({ description: 'When a repair was begun.' }),
  }),
  'offline_repair.disposition_set': z.object({
    ...repair,
    offlineDisposition: z.enum(DISPOSITIONS),
    previousStatus: previousRepairStatus,
  }),
  'offline_repair.closed': z.object({
    ...repair,
    previousStatus: previousRepairStatus,
    offlineDisposition: z.enum(DISPOSITIONS).nullable(),
  }),
  'trade_return.created': TradeReturn,
  'trade_return.status_changed': z.object({ ...tradeReturn, previousStatus: previousTradeStatus }),
  'trade_return.credit_requested': z.object({
    ...tradeReturn,
    previousStatus: previousTradeStatus,
    creditAmount: z.number().meta({ description: 'The sum of price × quantity, exact to the last decimal.' }),
  }),
  'trade_return.resolved': z.object({ ...tradeReturn, previousStatus: previousTradeStatus }),
  'webhook.test': z.object({
    id: Id,
    rmaNumber: z.null(),
    externalRef: z.null(),
    externalSource: z.null(),
    status: z.null(),
    message: z.string(),
  }),
} as const;
export type WebhookEventName = keyof typeof WEBHOOK_EVENT_DATA;
export type WebhookEventData<Name extends WebhookEventName> = z.infer<(typeof WEBHOOK_EVENT_DATA)[Name]>;
