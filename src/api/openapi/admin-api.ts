import { ADMIN_BASE_PATH } from '../../../contract/admin-people.ts';
import type { ApiDescription } from '../../http/openapi.ts';
import { ERRORS, type ErrorCode, invalidField, ServiceError } from '../../platform/errors.ts';
import { KIND_APIS } from '../../returns/kinds/kinds.ts';

export const ADMIN_API: ApiDescription = {
  basePath: ADMIN_BASE_PATH,
  decorator: 'adminSwagger',
  info: {
    title: 'Handback Admin API',
    summary: 'What the admin app calls, on behalf of a person of the shop.',
    description:
      'Sign in at `POST /session`; the cookie it sets goes along with every call. Changes are taken as JSON, from our own pages only.',
  },
  tags: {
    Session: 'Signing in and out.',
    ...Object.fromEntries(KIND_APIS.map(({ tag, tagTexts }) => [tag, tagTexts.admin])),
    Overview: 'Figures of the shop.',
    'Saved views': 'Lists under a name.',
    'API clients': "The shop's API clients and their webhooks, for its Admins.",
    Team: "The shop's people, for its Admins.",
    Settings: "The shop's rules, for its Admins.",
    'Audit log': 'Who changed what, for Admins.',
    'Personal data': 'Finding, exporting and erasing customers and former employees, for Admins.',
  },
  securitySchemes: {
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: 'handback_session',
      description: 'Set at sign-in, for 12 hours.',
    },
  },
  security: [{ session: [] }],
  responses: {
    always: ['X-Request-Id'],
    byStatus: { 429: ['Retry-After'], 503: ['Retry-After'] },
    refused: {
      401: 'You are not signed in, or the session has ended.',
      403: '`code` says why: `ADMIN_REQUIRED`, `PROOF_REQUIRED` (confirm your identity with `POST /session/proof`, then repeat the request), `CROSS_SITE`, and on creation `LIMIT_EXCEEDED` or `USAGE_CAP_EXCEEDED`.',
      404: 'The shop has nothing by this id.',
      409: 'It cannot be done as things stand; `code` says why.',
      410: 'The link was used, has expired, or a newer one took its place (`LINK_EXPIRED`).',
      415: 'The request does not say `Content-Type: application/json`, or its body is something else.',
      429: 'Too many calls of this session or from this address, or too many wrong passwords, codes or links: wait `Retry-After` seconds.',
    },
    codes: Object.keys(ERRORS) as ErrorCode[],
    examples: [
      invalidField('email', 'required', 'is required'),
      new ServiceError('SIGNED_OUT'),
      new ServiceError('ADMIN_REQUIRED'),
      new ServiceError('USER_NOT_FOUND'),
      new ServiceError('LAST_ADMIN'),
      new ServiceError('LINK_EXPIRED'),
      new ServiceError('LOCKED_OUT', {
        message: 'Too many wrong passwords or codes. Try again in 15 minutes.',
      }),
    ],
    examplesByTag: {
      'Personal data': [new ServiceError('FORMER_EMPLOYEE_NOT_FOUND'), new ServiceError('ERASE_REFUSED')],
    },
  },
};
