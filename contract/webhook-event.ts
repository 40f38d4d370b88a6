import { z } from 'zod';
import { Id, Instant } from './common.ts';
import { perKind, RETURN_KINDS, type ReturnTable } from './kinds.ts';
import { OfflineDisposition, OfflineRepair, OfflineRepairStatus } from './offline-repair.ts';
import { CreditAmount, ReceivedItem, TradeReturn, TradeReturnStatus } from './trade-return.ts';

// These schemas define the `data` of each event. The sender uses them, the reference shows them, receivers rely on them.

/** The fields in the data of every event. */
const common = {
  id: Id,
  rmaNumber: z.string(),
  externalRef: z.string().nullable(),
  externalSource: z.string().nullable(),
};
const repair = { ...common, status: OfflineRepairStatus };

const tradeReturn = { ...common, status: TradeReturnStatus };
const erasedAt = Instant.meta({ description: "When the customer's data were erased." });

export const WEBHOOK_EVENT_DATA = {
  'offline_repair.created': OfflineRepair,
  'offline_repair.tracking_uploaded': z
    .object({
      ...repair,
      trackingNumber: z.string(),
      carrierName: z.string(),
    })
    .meta({ id: 'OfflineRepairTrackingUploaded' }),
  'offline_repair.status_changed': z
    .object({
      ...repair,
      previousStatus: OfflineRepairStatus,
      assignedToId: z.string().nullable().optional().meta({ description: 'Only when a repair begins.' }),
    })
    .meta({ id: 'OfflineRepairStatusChanged' }),
  'offline_repair.disposition_set': z
    .object({
      ...repair,
      offlineDisposition: OfflineDisposition,
      previousStatus: OfflineRepairStatus,
    })
    .meta({ id: 'OfflineRepairDispositionSet' }),
  'offline_repair.closed': z
    .object({
      ...repair,
      previousStatus: OfflineRepairStatus,
      offlineDisposition: OfflineDisposition.nullable(),
    })
    .meta({ id: 'OfflineRepairClosed' }),
  'offline_repair.updated': OfflineRepair,
  'offline_repair.erased': z.object({ ...repair, erasedAt }).meta({ id: 'OfflineRepairErased' }),
  'trade_return.created': TradeReturn,
  'trade_return.status_changed': z
    .object({
      ...tradeReturn,
      previousStatus: TradeReturnStatus,
      items: z
        .array(ReceivedItem)
        .optional()
        .meta({ description: 'Only when the return is received: all its lines.' }),
      creditAmount: CreditAmount.optional().meta({ description: 'Only when the return is received.' }),
    })
    .meta({ id: 'TradeReturnStatusChanged' }),
  'trade_return.items_received': z
    .object({
      ...tradeReturn,
      items: z.array(ReceivedItem).meta({ description: 'All lines of the return, as counted so far.' }),
      creditAmount: CreditAmount.nullable().meta({ description: '`null` before the return is received.' }),
    })
    .meta({ id: 'TradeReturnItemsReceived' }),
  'trade_return.credit_requested': z
    .object({
      ...tradeReturn,
      previousStatus: TradeReturnStatus,
      creditAmount: CreditAmount,
    })
    .meta({ id: 'TradeReturnCreditRequested' }),
  'trade_return.resolved': z
    .object({ ...tradeReturn, previousStatus: TradeReturnStatus, creditAmount: CreditAmount })
    .meta({ id: 'TradeReturnResolved' }),
  'trade_return.updated': TradeReturn,
  'trade_return.erased': z.object({ ...tradeReturn, erasedAt }).meta({ id: 'TradeReturnErased' }),
  'webhook.test': z.object({
    id: Id,
    rmaNumber: z.null(),
    externalRef: z.null(),
    externalSource: z.null(),
    status: z.null(),
    message: z.string(),
  }),
} as const;
/** The description of each event in the OpenAPI document. */
export const WEBHOOK_EVENT_TEXTS: Record<keyof typeof WEBHOOK_EVENT_DATA, string> = {
  'offline_repair.created': 'An offline repair was created through the API. `data` is the whole repair.',
  'offline_repair.tracking_uploaded': 'Return tracking was lodged.',
  'offline_repair.status_changed': 'The repair moved between lifecycle stages.',
  'offline_repair.disposition_set': 'A disposition was set at resolution.',
  'offline_repair.closed': 'The repair was closed.',
  'offline_repair.updated': 'Staff corrected or assigned the repair. `data` is the whole repair.',
  'offline_repair.erased': "The customer's data in the repair were erased: erase your copy as well.",
  'trade_return.created': 'A trade return was created through the API. `data` is the whole trade return.',
  'trade_return.status_changed': 'The trade return moved between lifecycle stages.',
  'trade_return.items_received':
    'Goods were counted, or the figures were corrected; the status stays. `items` has every line.',
  'trade_return.credit_requested': 'A credit was requested for the trade return.',
  'trade_return.resolved': 'The trade return was resolved.',
  'trade_return.updated': 'Staff corrected or assigned the trade return. `data` is the whole trade return.',
  'trade_return.erased': "The customer's data in the trade return were erased: erase your copy as well.",
  'webhook.test': 'An Admin asked for a test event in the admin app. It is about no RMA.',
};

/** The events of the specification. Clients are sent these, and the feed has these, unless other events are chosen. */
export const SPECIFIED_EVENTS = [
  'offline_repair.created',
  'offline_repair.tracking_uploaded',
  'offline_repair.status_changed',
  'offline_repair.disposition_set',
  'offline_repair.closed',
  'trade_return.created',
  'trade_return.status_changed',
  'trade_return.credit_requested',
  'trade_return.resolved',
] as const satisfies (keyof typeof WEBHOOK_EVENT_DATA)[];

export type WebhookEventName = keyof typeof WEBHOOK_EVENT_DATA;
export type WebhookEventData<Name extends WebhookEventName> = z.infer<(typeof WEBHOOK_EVENT_DATA)[Name]>;

const createdData = (table: ReturnTable) =>
  WEBHOOK_EVENT_DATA[`${RETURN_KINDS[table].event}.created` as const];
/** The `created` event of a kind holds a return as the API shows it. */
export const RETURN_VIEWS = perKind(createdData);
export type ReturnView = z.infer<ReturnType<typeof createdData>>;
