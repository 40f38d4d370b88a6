import { BASE_PATH, type FieldError, type RefusedReturn, type Right } from '../../contract/common.ts';

// Every error that the service can return: its status, its code and its sentence, once.

/** Errors that an API client can get, by status. The OpenAPI document of the external API lists them. */
const EXTERNAL = {
  400: {
    VALIDATION_FAILED: 'The request is not valid.',
    INVALID_JSON: 'The body is not valid JSON.',
    BAD_REQUEST: 'The request could not be read.',
  },
  401: {
    UNAUTHENTICATED:
      'A valid API key is needed: send it as X-Api-Key, or as a Bearer token in Authorization.',
  },
  403: {
    PLAN_REQUIRED: 'The External API needs the Scale or the Enterprise plan.',
    RIGHT_REQUIRED: 'The API client may not do this: an Admin can give it the right in the admin app.',
    READ_ONLY: "The shop's subscription is inactive: returns can be read, but not changed.",
    LIMIT_EXCEEDED: "The shop's monthly allowance of RMAs is used up.",
    USAGE_CAP_EXCEEDED: "The shop's monthly usage cap is reached.",
    CORS_NOT_SUPPORTED:
      'The External API is not for browsers: a key on a page is public. Keep it on a server, and call the API from there.',
  },
  404: {
    NOT_FOUND: 'There is no such RMA.',
    DELIVERY_NOT_FOUND: 'There is no such delivery.',
    ROUTE_NOT_FOUND: `There is nothing at this address. The External API is below ${BASE_PATH}; its documentation lists all addresses.`,
  },
  405: { METHOD_NOT_ALLOWED: 'This endpoint does not support that method.' },
  408: { REQUEST_TIMEOUT: 'The request took too long to arrive.' },
  409: {
    IDEMPOTENCY_KEY_IN_USE: 'The first request with this Idempotency-Key is still running.',
    EDIT_CONFLICT: 'This return was changed since you read it; your change was not made.',
    MOVE_NOT_ALLOWED: "This move is not allowed in the return's current status.",
    ERASED: "The customer's data in this return was erased: it can no longer be changed.",
    ERASE_REFUSED: 'No return was erased: each is still open, or has webhooks waiting to be sent.',
  },
  410: {
    CURSOR_EXPIRED:
      'Events after this cursor are no longer kept: request after=latest and store its cursor, read the lists once, then continue from that cursor.',
  },
  413: { BODY_TOO_LARGE: 'The body is larger than 256 KiB.' },
  415: { UNSUPPORTED_MEDIA_TYPE: 'Send the body as JSON, with Content-Type: application/json.' },
  417: { EXPECTATION_FAILED: 'Only the expectation 100-continue is supported.' },
  422: { IDEMPOTENCY_KEY_REUSED: 'This Idempotency-Key was used before for another request.' },
  429: { RATE_LIMITED: 'Too many requests: wait as long as Retry-After says.' },
  431: { HEADERS_TOO_LARGE: 'The request headers are too large.' },
  500: { INTERNAL_ERROR: 'Something went wrong on our side.' },
  503: { SERVICE_UNAVAILABLE: 'The service cannot do this right now: try again in a moment.' },
};

const ADMIN = {
  401: {
    SIGNED_OUT: 'You are not signed in, or the session has ended.',
    SIGN_IN_FAILED: 'The email or the password is wrong.',
    SECOND_FACTOR_REQUIRED: 'A code from your second factor is required as well.',
    SECOND_FACTOR_WRONG: 'The code is wrong, or it was used before.',
  },
  403: {
    PASSWORD_SIGN_IN_OFF: 'People sign in through the identity provider here, not with a password.',
    CROSS_SITE: "Changes are accepted only from Handback's own pages.",
    ADMIN_REQUIRED: 'Only an Admin of the shop can do this.',
    SET_UP_SECOND_FACTOR: 'The shop requires a second factor: set yours up first.',
    PROOF_REQUIRED:
      'Confirm your identity first: send your password or a code to POST /session/proof, then try again.',
    SETUP_LINK_INVALID:
      'This set-up link is not valid. It is good for one hour: the next start of the service prints a new one.',
  },
  404: {
    NO_PROVIDER: 'No identity provider is set up here.',
    USER_NOT_FOUND: 'There is no such user.',
    SESSION_NOT_FOUND: 'There is no such session.',
    RULE_NOT_FOUND: 'The shop has no such rule.',
    CLIENT_NOT_FOUND: 'There is no such API client.',
    VIEW_NOT_FOUND: 'There is no such view.',
    FORMER_EMPLOYEE_NOT_FOUND: 'There is no such former employee.',
  },
  409: {
    NO_WEBHOOK: 'The client is revoked or has no webhook URL, so nothing can be sent.',
    CLIENT_REVOKED: 'The client is revoked: it can no longer be changed.',
    CLIENT_REPLACED: 'The client was replaced already: replace the client that took its place.',
    TOO_MANY_CLIENTS: 'The shop has 100 active API clients already: revoke one first.',
    TOO_MANY_VIEWS: 'There are 50 views already: delete one first.',
    ALREADY_SET_UP:
      'There is a shop here already: sign in with an account of it. The operator can add an Admin with npx --no handback user create.',
    EMAIL_TAKEN: 'There is a user with this email already.',
    PROVIDER_ONLY:
      'This person signs in through the identity provider and has no password: an Admin can give them one by sending besideProvider: true.',
    LAST_ADMIN: 'The shop needs an Admin: make another person an Admin first.',
    SECOND_FACTOR_ON: 'The second factor is on already.',
    SECOND_FACTOR_OFF: 'There is no second factor.',
    OWN_ACCOUNT:
      'This is your own account: change your email, password and second factor on your account page.',
  },
  410: { LINK_EXPIRED: 'This link was used, has expired, or was replaced by a newer one.' },
  429: { LOCKED_OUT: 'Too many wrong passwords: wait as long as Retry-After says.' },
  503: { PROVIDER_AWAY: 'The identity provider did not respond as expected: try again in a moment.' },
};

type Code<Table> = { [Status in keyof Table]: keyof Table[Status] }[keyof Table] & string;

const byCode = <Table extends Record<number, Record<string, string>>>(table: Table) => {
  const entries = Object.entries(table).flatMap(([status, messages]) =>
    Object.entries(messages).map(([code, message]) => [code, { status: Number(status), message }]),
  );
  return Object.fromEntries(entries) as Record<Code<Table>, { status: number; message: string }>;
};

export const EXTERNAL_ERRORS = byCode(EXTERNAL);
export const ERRORS = { ...EXTERNAL_ERRORS, ...byCode(ADMIN) };
export type ErrorCode = keyof typeof ERRORS;

interface Details {
  cause?: unknown;
  /** Replaces the table's sentence if more is known about the case. */
  message?: string;
  errors?: FieldError[];
  right?: Right;
  refused?: RefusedReturn[];
  headers?: Record<string, string>;
  /** Keeps an expected error out of the log, although its status is that of a failure. */
  quiet?: boolean;
}

/** The only way to refuse a request: an error is a code, and `http/` turns it into a response. */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly details: Details;

  constructor(code: ErrorCode, details: Details = {}) {
    super(details.message ?? ERRORS[code].message, { cause: details.cause });
    this.code = code;
    this.details = details;
  }
}

/** The error of a rate limit, with the seconds until the next try. */
export const rateLimited = (msBeforeNext: number, message?: (waitS: number) => string): ServiceError => {
  const waitS = Math.max(1, Math.ceil(msBeforeNext / 1000));
  return new ServiceError('RATE_LIMITED', {
    message: message?.(waitS),
    headers: { 'retry-after': String(waitS) },
  });
};

/** An error of a field that only an action can detect. `says` follows the field's name. */
export const fieldError = (field: string, rule: string, says: string): FieldError => ({
  field,
  rule,
  message: `${field} ${says}`,
});

export const invalidField = (...what: Parameters<typeof fieldError>): ServiceError => {
  const error = fieldError(...what);
  return new ServiceError('VALIDATION_FAILED', { message: error.message, errors: [error] });
};
