import type { Attempt } from './attempts.ts';
import { GIVE_UP_AFTER_MS } from './policy.ts';

/** Why a delivery was dropped, in words for the shop's Admin. A dropped delivery always has one. */
export const DROPPED_BECAUSE = {
  gone: 'the client does not exist any more',
  revoked: 'the client was revoked',
  noUrl: 'the client has no webhook URL',
  noApi: "the shop's plan has no API",
  sealed: 'the webhook secret cannot be opened',
  unreadable: 'its earlier attempts cannot be read',
  noBody: 'its event cannot be read',
  serviceError: 'it could not be sent because of an error in the service',
  unknown: 'it is not known why',
  tooOld: `waited longer than ${GIVE_UP_AFTER_MS / 3_600_000} hours`,
} as const;

export const afterAttempts = (attempts: number, { statusCode, error }: Attempt): string =>
  `${attempts === 4 ? 'four' : attempts} attempts failed: ${error ?? `status ${statusCode}`}`;
