import { z } from 'zod';
import { WEBHOOK_EVENT_DATA, type WebhookEventName } from '../../../contract/webhook-event.ts';
import type { Json } from '../../http/openapi.ts';

/** Adds the events that a client's webhook URL receives, from the same schemas that build them. */
export const withEvents = (document: Json): Json => ({
  ...document,
  webhooks: Object.fromEntries(
    Object.entries(WEBHOOK_EVENT_DATA).map(([name, data]) => [
      name,
      {
        post: {
          operationId: name.replace('.', '_'),
          tags: ['Events'],
          summary: name,
          description: EVENT_DESCRIPTIONS[name as WebhookEventName],
          security: [],
          parameters: EVENT_HEADERS,
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  required: ['event', 'timestamp', 'data'],
                  properties: {
                    event: { type: 'string', const: name },
                    timestamp: { type: 'string', format: 'date-time' },
                    data: dataSchema(data),
                  },
                },
              },
            },
          },
          responses: {
            '2XX': { description: 'Acknowledged.' },
            '4XX': { description: 'Anything else is tried again after 1, 4 and 16 seconds, then dropped.' },
          },
        },
      },
    ]),
  ),
});

/** The whole resource if the event carries it, else the few fields of the event itself. */
const dataSchema = (schema: z.ZodType): Json => {
  const id = z.globalRegistry.get(schema)?.id;
  if (id) return { $ref: `#/components/schemas/${id}` };
  const { $schema, additionalProperties, ...plain } = z.toJSONSchema(schema, { io: 'output' });
  return plain;
};

const EVENT_DESCRIPTIONS: Record<WebhookEventName, string> = {
  'offline_repair.created': 'An offline repair was created through the API. `data` is the whole repair.',
  'offline_repair.tracking_uploaded': 'Return tracking was lodged.',
  'offline_repair.status_changed': 'The repair moved between lifecycle stages.',
  'offline_repair.disposition_set': 'A disposition was set at resolution.',
  'offline_repair.closed': 'The repair was closed.',
  'trade_return.created': 'A trade return was created through the API. `data` is the whole trade return.',
  'trade_return.status_changed': "The shop's staff moved the trade return between lifecycle stages.",
  'trade_return.credit_requested': 'A credit was requested for the trade return.',
  'trade_return.resolved': 'The trade return was resolved.',
  'webhook.test': 'An Admin asked for a test event in the admin app. It is about no RMA.',
};

const eventHeader = (name: string, description: string, required = true) => ({
  in: 'header',
  name,
  required,
  description,
  schema: { type: 'string' },
});
const EVENT_HEADERS = [
  eventHeader(
    'X-Webhook-Signature',
    "Hex HMAC-SHA256 of the body's bytes, keyed with the client's webhook secret.",
  ),
  eventHeader('X-Webhook-Id', 'The same at every attempt of one delivery.'),
  eventHeader('X-Webhook-Event', 'The event name.'),
  eventHeader('X-Webhook-Attempt', '1 to 4.'),
];
