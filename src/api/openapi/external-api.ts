import { BASE_PATH } from '../../../contract/common.ts';
import { EXTERNAL_ERRORS } from '../../errors.ts';
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
    codes: Object.keys(EXTERNAL_ERRORS),
    examples: {
      400: {
        code: 'VALIDATION_FAILED',
        errors: [
          { field: 'faultyItem.sku', rule: 'required', message: 'faultyItem.sku is required' },
          {
            field: 'ordrNumber',
            rule: 'unknown',
            message: 'ordrNumber is not a known field: did you mean orderNumber?',
          },
        ],
      },
      401: { code: 'UNAUTHENTICATED' },
      403: { code: 'LIMIT_EXCEEDED' },
      404: { code: 'NOT_FOUND' },
      409: { code: 'IDEMPOTENCY_KEY_IN_USE' },
      410: { code: 'CURSOR_EXPIRED' },
      413: { code: 'BODY_TOO_LARGE' },
      415: { code: 'UNSUPPORTED_MEDIA_TYPE' },
      422: { code: 'IDEMPOTENCY_KEY_REUSED' },
      429: { code: 'RATE_LIMITED' },
      503: { code: 'SERVICE_UNAVAILABLE' },
    },
    examplesByTag: { Deliveries: { 404: { code: 'DELIVERY_NOT_FOUND' } } },
  },
  complete: withEvents,
};
