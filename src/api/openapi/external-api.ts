import { z } from 'zod';
import { BASE_PATH } from '../../../contract/common.ts';
import {
  WEBHOOK_EVENT_DATA,
  WEBHOOK_EVENT_TEXTS,
  type WebhookEventName,
} from '../../../contract/webhook-event.ts';
import type { ApiDescription, Json } from '../../http/openapi.ts';
import { type ErrorCode, EXTERNAL_ERRORS, ServiceError } from '../../platform/errors.ts';
import { KIND_APIS } from '../../returns/kinds/kinds.ts';
import { RATE_LIMITS } from '../rate-limits.ts';

const [CREATE_SECOND, CREATE_MINUTE] = RATE_LIMITS.create;
const [OTHER_MINUTE] = RATE_LIMITS.other;

const GUIDE = `
Create and manage return authorisations (RMAs) from a point of sale, a service desk or an ERP.

**Keys.** An Admin creates an API client; its key is shown once. Send it with every request as \`X-Api-Key\`, or as a Bearer
token in \`Authorization\`.

**Retries.** Send an \`Idempotency-Key\` with a creation. After a lost response, send the same request again: within 24 hours
you get the first result back, and nothing is created twice.

**Limits.** Creations: ${CREATE_MINUTE.points} a minute and ${CREATE_SECOND.points} a second per address. Everything else: ${OTHER_MINUTE.points} a minute. A 429 says in \`Retry-After\`
how long to wait.

**Errors.** Always the same body: \`statusCode\`, \`error\`, \`message\`, \`code\`, \`docs\`, \`requestId\`, and for a validation failure
\`errors\`. \`code\` names the error for your code, \`docs\` leads to its explanation. Unknown fields are refused, so a misspelt name never goes unnoticed.

**Versions.** Within v1 only additions come: be ready to see new fields. Anything that could break a caller gets a new
version, and the old one then lives for at least 12 months more.
`.trim();

/** Documents an event that webhooks receive, from the schema that builds it. */
const eventOperation = (name: WebhookEventName, data: z.ZodType) => {
  const properties = {
    event: { type: 'string', const: name },
    timestamp: { type: 'string', format: 'date-time' },
    data: dataSchema(data),
  };
  const schema = { type: 'object', required: Object.keys(properties), properties };
  return {
    operationId: name.replace('.', '_'),
    tags: ['Events'],
    summary: name,
    description: WEBHOOK_EVENT_TEXTS[name],
    security: [],
    parameters: EVENT_HEADERS,
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: {
      '2XX': { description: 'Acknowledged.' },
      '4XX': { description: 'Anything else is tried again after 1, 4 and 16 seconds, then dropped.' },
    },
  };
};

/** The schema of the full resource if the event contains it, else that of the event's own fields. */
const dataSchema = (schema: z.ZodType): Json => {
  const id = z.globalRegistry.get(schema)?.id;
  if (id) return { $ref: `#/components/schemas/${id}` };
  const { $schema, additionalProperties, ...plain } = z.toJSONSchema(schema, { io: 'output' });
  return plain;
};

const EVENT_HEADERS = Object.entries({
  'X-Webhook-Signature': "Hex HMAC-SHA256 of the body's bytes, keyed with the client's webhook secret.",
  'X-Webhook-Id': 'The same at every attempt of one delivery.',
  'X-Webhook-Event': 'The event name.',
  'X-Webhook-Attempt': '1 to 4.',
}).map(([name, description]) => ({
  in: 'header',
  name,
  required: true,
  description,
  schema: { type: 'string' },
}));

export const EXTERNAL_API: ApiDescription = {
  basePath: BASE_PATH,
  decorator: 'swagger',
  info: {
    title: 'Handback External API',
    summary: 'Offline repairs and trade returns, for the systems of a shop.',
    description: GUIDE,
  },
  tags: {
    ...Object.fromEntries(KIND_APIS.map(({ tag, tagTexts }) => [tag, tagTexts.external])),
    Usage: "How much of the shop's month is used.",
    Events: 'What happened: sent to the webhook URL of an API client, and kept in a feed for 30 days.',
    Deliveries: "What was sent to the client's webhook URL, and what became of it.",
    'Personal data': 'Erasing a customer, for clients with the right `erase`.',
  },
  securitySchemes: {
    apiKey: {
      type: 'apiKey',
      in: 'header',
      name: 'X-Api-Key',
      description: 'The key shown once when the API client was created.',
    },
    bearer: { type: 'http', scheme: 'bearer', description: 'The same key as a Bearer token.' },
  },
  security: [{ apiKey: [] }, { bearer: [] }],
  refusals: ({ right, whileReadOnly, limit }, method) => [
    'PLAN_REQUIRED',
    ...(method !== 'GET' && right ? (['RIGHT_REQUIRED'] as const) : []),
    ...(method !== 'GET' && !whileReadOnly ? (['READ_ONLY'] as const) : []),
    ...(limit === 'create' ? (['LIMIT_EXCEEDED', 'USAGE_CAP_EXCEEDED'] as const) : []),
  ],
  responses: {
    always: ['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'],
    byStatus: { 201: ['Idempotency-Replayed'], 429: ['Retry-After'], 503: ['Retry-After'] },
    codes: Object.keys(EXTERNAL_ERRORS) as ErrorCode[],
    examples: [
      new ServiceError('VALIDATION_FAILED', {
        errors: [
          { field: 'faultyItem.sku', rule: 'required', message: 'faultyItem.sku is required' },
          {
            field: 'ordrNumber',
            rule: 'unknown',
            message: 'ordrNumber is not a known field: did you mean orderNumber?',
          },
        ],
      }),
      new ServiceError('LIMIT_EXCEEDED'),
    ],
    examplesByTag: {
      Deliveries: [new ServiceError('DELIVERY_NOT_FOUND')],
      'Personal data': [
        new ServiceError('RIGHT_REQUIRED', { right: 'erase' }),
        new ServiceError('ERASE_REFUSED', {
          refused: [{ id: '019a8c1e-7a54-7cc1-9a3e-5b1f0c7d2e44', rmaNumber: '#RMA-000123', reason: 'OPEN' }],
        }),
      ],
    },
  },
  webhooks: Object.fromEntries(
    Object.entries(WEBHOOK_EVENT_DATA).map(([name, data]) => [
      name,
      { post: eventOperation(name as WebhookEventName, data) },
    ]),
  ),
};
