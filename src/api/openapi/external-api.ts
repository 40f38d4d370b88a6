import { BASE_PATH } from '../../../contract/common.ts';
import type { ApiDescription } from '../../http/openapi/document.ts';
import { withEvents } from './events.ts';
import { GUIDE } from './guide.ts';

/** What the document of the external API says beyond its routes. */
export const EXTERNAL_API: ApiDescription = {
  basePath: BASE_PATH,
  decorator: 'swagger',
  title: 'Handback External API',
  summary: 'Offline repairs and trade returns, for the systems of a shop.',
  description: GUIDE,
  tags: [
    {
      name: 'Offline repairs',
      description: 'Items handed in at a counter, a service desk or a partner.',
    },
    {
      name: 'Trade returns',
      description: "Business-to-business returns: you create and read them, the shop's staff move them.",
    },
    {
      name: 'Usage',
      description: "How much of the shop's month is used.",
    },
    {
      name: 'Events',
      description: 'What happened: sent to the webhook URL of an API client, and kept in a feed for 30 days.',
    },
    {
      name: 'Deliveries',
      description: "What was sent to the client's webhook URL, and what became of it.",
    },
  ],
  securitySchemes: {
    apiKey: {
      type: 'apiKey',
      in: 'header',
      name: 'X-Api-Key',
      description: 'The key shown once when the API client was made.',
    },
    bearer: { type: 'http', scheme: 'bearer', description: 'The same key as a Bearer token.' },
  },
  security: [{ apiKey: [] }, { bearer: [] }],
  answers: {
    always: ['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'],
    byStatus: { 201: ['Idempotency-Replayed'], 429: ['Retry-After'], 503: ['Retry-After'] },
    examples: {
      400: {
        message: ['faultyItem.sku is required', 'ordrNumber is not a known field: did you mean orderNumber?'],
        errors: [
          { field: 'faultyItem.sku', rule: 'required', message: 'faultyItem.sku is required' },
          {
            field: 'ordrNumber',
            rule: 'unknown',
            message: 'ordrNumber is not a known field: did you mean orderNumber?',
          },
        ],
      },
      401: {
        message: 'A valid API key is needed: send it as X-Api-Key, or as a Bearer token in Authorization.',
      },
      403: { message: "The shop's monthly allowance of RMAs is used up.", code: 'LIMIT_EXCEEDED' },
      404: { message: 'There is no such RMA.' },
      409: {
        message: 'The first request with this Idempotency-Key is still running.',
        code: 'IDEMPOTENCY_KEY_IN_USE',
      },
      410: {
        message:
          'Events after this cursor are not kept any more: read the lists once, then go on with after=latest.',
        code: 'CURSOR_EXPIRED',
      },
      413: { message: 'The body is larger than 256 KiB.' },
      415: { message: 'Send the body as JSON, with Content-Type: application/json.' },
      422: {
        message: 'This Idempotency-Key was used before with another body.',
        code: 'IDEMPOTENCY_KEY_REUSED',
      },
      429: { message: 'Too many requests: wait as long as Retry-After says.' },
      503: { message: 'The service cannot do this right now: try again in a moment.' },
    },
    examplesByTag: { Deliveries: { 404: { message: 'There is no such delivery.' } } },
  },
  complete: withEvents,
};
