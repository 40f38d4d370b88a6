import type { ErrorBody } from '../../contract/common.ts';

// What people read when the service refuses something. Its own sentences are for programs; those that need no other words stay.

const WORDS: Record<string, string | ((wait: string) => string)> = {
  RATE_LIMITED: (wait) => `Too many at once; try again ${wait}.`,
  LOCKED_OUT: (wait) => `Too many wrong passwords; try again ${wait}.`,
  SIGNED_OUT: 'You are signed out. Sign in again; what you typed stays.',
  PROOF_REQUIRED: 'This needs your password. Try again, and confirm that it is you.',
  OWN_ACCOUNT: 'This is your own account: change it on your account page.',
  CROSS_SITE: 'Open this page at its usual address and try again.',
  LIMIT_EXCEEDED: 'All returns of this month are used. No more can be made until next month.',
  USAGE_CAP_EXCEEDED: 'All returns of this month are used. No more can be made until next month.',
  NOT_FOUND: 'There is no such return.',
  ROUTE_NOT_FOUND: 'This page and the service do not fit together. Load the page again.',
  METHOD_NOT_ALLOWED: 'This page and the service do not fit together. Load the page again.',
  UNSUPPORTED_MEDIA_TYPE: 'This page and the service do not fit together. Load the page again.',
  INVALID_JSON: 'Something of what was typed cannot be sent. Look for unusual characters.',
  REQUEST_TIMEOUT: 'The connection is too slow. Try again.',
  MOVE_NOT_ALLOWED: 'Somebody has moved this return meanwhile, so this is not possible any more.',
  IDEMPOTENCY_KEY_IN_USE: 'This is being created already. Wait a moment, then try again.',
  IDEMPOTENCY_KEY_REUSED:
    'This was sent before with other words. Look in the list whether it is there already.',
  BODY_TOO_LARGE: 'This is too much text to be sent at once.',
  HEADERS_TOO_LARGE: 'This page sends too much at once. Delete the cookies of this address.',
};

const MINUTE_S = 60;
const count = (value: number, unit: string): string => `in ${value} ${unit}${value === 1 ? '' : 's'}`;

const waitText = (seconds: number | null): string => {
  if (seconds === null) return 'in a moment';
  return seconds > MINUTE_S ? count(Math.ceil(seconds / MINUTE_S), 'minute') : count(seconds, 'second');
};

export const inPlainWords = (body: ErrorBody, retryAfterS: number | null): string => {
  const words = WORDS[body.code];
  if (words === undefined) return [body.message].flat().join('; ');
  return typeof words === 'string' ? words : words(waitText(retryAfterS));
};
