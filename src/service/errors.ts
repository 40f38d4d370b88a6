import { BASE_PATH, type FieldError } from '../../contract/common.ts';

// Every error the service can answer with: its code, its status and its sentence, once.

/** Those that a program can meet; the OpenAPI document of the External API lists them. */
export const EXTERNAL_ERRORS = {
  VALIDATION_FAILED: { status: 400, message: 'The request is not valid.' },
  INVALID_JSON: { status: 400, message: 'The body is not valid JSON.' },
  BAD_REQUEST: { status: 400, message: 'The request could not be read.' },
  UNAUTHENTICATED: {
    status: 401,
    message: 'A valid API key is needed: send it as X-Api-Key, or as a Bearer token in Authorization.',
  },
  PLAN_REQUIRED: { status: 403, message: 'The External API needs the Scale or the Enterprise plan.' },
  READ_ONLY: {
    status: 403,
    message: "The shop's subscription is inactive: returns can be read, but not changed.",
  },
  LIMIT_EXCEEDED: { status: 403, message: "The shop's monthly allowance of RMAs is used up." },
  USAGE_CAP_EXCEEDED: { status: 403, message: "The shop's monthly usage cap is reached." },
  CORS_NOT_SUPPORTED: {
    status: 403,
    message:
      'The External API is not for browsers: a key on a page is public. Keep it on a server, and call the API from there.',
  },
  NOT_FOUND: { status: 404, message: 'There is no such RMA.' },
  DELIVERY_NOT_FOUND: { status: 404, message: 'There is no such delivery.' },
  ROUTE_NOT_FOUND: {
    status: 404,
    message: `There is nothing at this address. The External API is below ${BASE_PATH}; /docs lists its addresses.`,
  },
  METHOD_NOT_ALLOWED: { status: 405, message: 'This address does not take that method.' },
  REQUEST_TIMEOUT: { status: 408, message: 'The request took too long to arrive.' },
  IDEMPOTENCY_KEY_IN_USE: {
    status: 409,
    message: 'The first request with this Idempotency-Key is still running.',
  },
  CURSOR_EXPIRED: {
    status: 410,
    message:
      'Events after this cursor are not kept any more: read the lists once, then go on with after=latest.',
  },
  BODY_TOO_LARGE: { status: 413, message: 'The body is larger than 256 KiB.' },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    message: 'Send the body as JSON, with Content-Type: application/json.',
  },
  EXPECTATION_FAILED: { status: 417, message: 'Only the expectation 100-continue can be met.' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, message: 'This Idempotency-Key was used before with another body.' },
  RATE_LIMITED: { status: 429, message: 'Too many requests: wait as long as Retry-After says.' },
  HEADERS_TOO_LARGE: { status: 431, message: 'The request headers are too large.' },
  INTERNAL_ERROR: { status: 500, message: 'Something went wrong on our side.' },
  SERVICE_UNAVAILABLE: {
    status: 503,
    message: 'The service cannot do this right now: try again in a moment.',
  },
} as const;

const ADMIN_ERRORS = {
  SIGNED_OUT: { status: 401, message: 'You are not signed in, or the session has ended.' },
  SIGN_IN_FAILED: { status: 401, message: 'The e-mail or the password is wrong.' },
  SECOND_FACTOR_REQUIRED: { status: 401, message: 'The password is right. A code is needed as well.' },
  SECOND_FACTOR_WRONG: { status: 401, message: 'The code is wrong, or it was used before.' },
  CROSS_SITE: { status: 403, message: 'Changes are taken from our own pages only.' },
  ADMIN_REQUIRED: { status: 403, message: 'Only an Admin of the shop can do this.' },
  SET_UP_SECOND_FACTOR: {
    status: 403,
    message: 'The shop asks everybody for a second factor: set yours up first.',
  },
  PROOF_REQUIRED: {
    status: 403,
    message:
      'Confirm your identity first: send your password or a code to POST /session/proof, then try again.',
  },
  USER_NOT_FOUND: { status: 404, message: 'There is no such user.' },
  SESSION_NOT_FOUND: { status: 404, message: 'There is no such session.' },
  RULE_NOT_FOUND: { status: 404, message: 'The shop has no such rule.' },
  SETUP_LINK_INVALID: {
    status: 403,
    message:
      'This set-up link is not valid. It is good for one hour: the next start of the service prints a new one.',
  },
  CLIENT_NOT_FOUND: { status: 404, message: 'There is no such API client.' },
  VIEW_NOT_FOUND: { status: 404, message: 'There is no such view.' },
  NO_WEBHOOK: {
    status: 409,
    message: 'The client is revoked or has no webhook URL: there is nowhere to send to.',
  },
  CLIENT_REVOKED: { status: 409, message: 'The client is revoked: it cannot be changed any more.' },
  CLIENT_REPLACED: {
    status: 409,
    message: 'The client was replaced already: replace the client that took its place.',
  },
  EDIT_CONFLICT: {
    status: 409,
    message: 'Someone else changed this return since you saw it; nothing was done.',
  },
  MOVE_NOT_ALLOWED: { status: 409, message: 'The return cannot make this move now.' },
  TOO_MANY_CLIENTS: {
    status: 409,
    message: 'The shop has 100 active API clients already: revoke one first.',
  },
  TOO_MANY_VIEWS: { status: 409, message: 'There are 50 views already: delete one first.' },
  ALREADY_SET_UP: {
    status: 409,
    message:
      'There is a shop here already: sign in with an account of it. The operator can add an Admin with npx handback user create.',
  },
  EMAIL_TAKEN: { status: 409, message: 'There is a user with this e-mail already.' },
  LAST_ADMIN: { status: 409, message: 'The shop needs an Admin: make another person an Admin first.' },
  SECOND_FACTOR_ON: { status: 409, message: 'The second factor is on already.' },
  SECOND_FACTOR_OFF: { status: 409, message: 'There is no second factor.' },
  OWN_ACCOUNT: {
    status: 409,
    message: 'This is your own account: change your e-mail, password and second factor on your account page.',
  },
  LINK_EXPIRED: {
    status: 410,
    message: 'This link was used, has expired, or a newer one took its place.',
  },
  LOCKED_OUT: { status: 429, message: 'Too many wrong passwords: wait as long as Retry-After says.' },
} as const;

export const ERRORS = { ...EXTERNAL_ERRORS, ...ADMIN_ERRORS };
export type ErrorCode = keyof typeof ERRORS;

interface Details {
  cause?: unknown;
  /** Instead of the table's sentence, where the case can be told more exactly. */
  message?: string;
  errors?: FieldError[];
  headers?: Record<string, string>;
  /** Not a failure, though its status says so: it stays out of the log. */
  quiet?: boolean;
}

/** The one way to refuse: an error is a code; `http/` turns it into an answer. */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly errors: FieldError[] | undefined;
  readonly headers: Record<string, string>;
  readonly quiet: boolean;

  constructor(code: ErrorCode, details: Details = {}) {
    super(details.message ?? ERRORS[code].message, { cause: details.cause });
    this.code = code;
    this.errors = details.errors;
    this.headers = details.headers ?? {};
    this.quiet = details.quiet ?? false;
  }
}

/** Too often: says in how many seconds to try again. */
export const rateLimited = (msBeforeNext: number, message?: (waitS: number) => string): ServiceError => {
  const waitS = Math.max(1, Math.ceil(msBeforeNext / 1000));
  return new ServiceError('RATE_LIMITED', {
    ...(message ? { message: message(waitS) } : {}),
    headers: { 'retry-after': String(waitS) },
  });
};

/** One field is wrong, and only an action could see it; `says` follows the field's name. */
export const invalidField = (field: string, rule: string, says: string): ServiceError =>
  new ServiceError('VALIDATION_FAILED', { errors: [{ field, rule, message: `${field} ${says}` }] });
