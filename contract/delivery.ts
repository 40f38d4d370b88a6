import { z } from 'zod';
import { Id, Instant, isId, listOf, pageQuery } from './common.ts';
import { WEBHOOK_EVENT_DATA, type WebhookEventName } from './webhook-event.ts';

// The schemas of webhook deliveries for the API client that receives them.

const DELIVERY_STATUSES = ['PENDING', 'DELIVERED', 'DROPPED'] as const;
const DeliveryStatus = z.enum(DELIVERY_STATUSES).meta({
  id: 'DeliveryStatus',
  description: 'Pending, acknowledged with a 2xx, or dropped.',
});
const EventName = z
  .enum(Object.keys(WEBHOOK_EVENT_DATA) as [WebhookEventName, ...WebhookEventName[]])
  .meta({ id: 'WebhookEventName' });

const DELIVERY_EXAMPLE = {
  id: '019a8c1e-7a55-7d0e-8f43-2c9b6d1a7e90',
  event: 'offline_repair.closed',
  rmaId: '019a8c1e-7a54-7cc1-9a3e-5b1f0c7d2e44',
  status: 'DROPPED',
  createdAt: '2026-11-15T09:30:00.000Z',
  nextAttemptAt: null,
  reason: 'four attempts failed: status 500',
  attempts: [{ at: '2026-11-15T09:30:00.012Z', durationMs: 84, statusCode: 500, error: null }],
};

export const WebhookDelivery = z
  .object({
    id: Id.meta({ description: 'The `X-Webhook-Id` of the delivery, and the id of the event in the feed.' }),
    event: z.string(),
    rmaId: Id.nullable().meta({ description: 'The repair or trade return; `null` for a test event.' }),
    status: DeliveryStatus,
    createdAt: Instant,
    nextAttemptAt: Instant.nullable().meta({ description: '`null` once it is delivered or dropped.' }),
    reason: z
      .string()
      .nullable()
      .meta({
        description: 'Why it was dropped; `null` unless it was.',
        examples: [DELIVERY_EXAMPLE.reason],
      }),
    attempts: z.array(
      z.object({
        at: Instant,
        durationMs: z.number(),
        statusCode: z.int().nullable().meta({ description: '`null` if there was no response.' }),
        error: z.string().nullable().meta({ description: 'What went wrong if there was no response.' }),
      }),
    ),
  })
  .meta({ id: 'WebhookDelivery', examples: [DELIVERY_EXAMPLE] });
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

export const WebhookDeliveryList = listOf(WebhookDelivery).meta({
  id: 'WebhookDeliveryList',
  description: 'Newest first.',
});

export const WebhookDeliveryWithBody = WebhookDelivery.extend({
  body: z.string().nullable().meta({
    description:
      'The exact bytes of the request as text, over which the signature is computed. `null` if its event can no longer be read.',
  }),
}).meta({
  id: 'WebhookDeliveryWithBody',
  examples: [
    {
      ...DELIVERY_EXAMPLE,
      body: '{"event":"offline_repair.closed","timestamp":"2026-11-15T09:30:00.000Z","data":{"id":"019a8c1e-7a54-7cc1-9a3e-5b1f0c7d2e44","rmaNumber":"#RMA-000123","externalRef":"POS-88213","externalSource":null,"status":"OFFLINE_CLOSED","previousStatus":"OFFLINE_RESOLVED","offlineDisposition":"RESTOCK_MASTER"}}',
    },
  ],
});
export type WebhookDeliveryWithBody = z.infer<typeof WebhookDeliveryWithBody>;

export const WebhookDeliveryQuery = z.strictObject({
  ...pageQuery,
  status: DeliveryStatus.optional(),
  event: EventName.optional(),
  rmaId: z
    .string()
    .toLowerCase()
    .refine(isId, { error: 'must be the id of an RMA', params: { rule: 'format' } })
    .optional()
    .meta({ format: 'uuid', description: 'Only deliveries of this repair or trade return.' }),
});
export type WebhookDeliveryQuery = z.infer<typeof WebhookDeliveryQuery>;
