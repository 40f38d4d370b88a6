import type { SignedIn } from '../../contract/admin-people.ts';
import type { Row } from '../db/schema.ts';
import type { RateGate } from '../db/types.ts';
import type { Mailer } from '../mail/mailer.ts';
import type { Core } from '../platform/core.ts';
import type { Caller } from '../shops/plans.ts';
import type { IdentityProvider } from './oidc.ts';

export type UserRow = Row<'users'>;

/** Each call counts towards the hourly limit, so call it only when the mail or the change is about to happen. */
export interface MailLimits {
  /** It takes the hash of an email, so that the counters contain no personal data. */
  link(emailHash: string): Promise<boolean>;
  /** The limit of a shop, so that its name cannot be abused to send advertisements. Above the limit links are shown, not mailed. */
  shopLink(shopId: string): Promise<boolean>;
  /** The limit of a shop. Above it, the admin app and the log still show which receivers fail. */
  receivers(shopId: string): Promise<boolean>;
  /**
   * A mail about an account is never skipped, since it may be the one that warns a victim. Instead the changes that cause mails
   * are limited, for the person who makes them, and these mails have a queue of their own.
   */
  accountChange(caller: Caller): Promise<void>;
  recoveryCodes(caller: Caller): Promise<void>;
  /** Emails are unique across all shops, so each one that is tried reveals whether someone has it. */
  newEmail(caller: Caller): Promise<void>;
}

/** Strangers are counted across all processes, a person in each process separately. */
export type SignInLimits = Record<'network' | 'strangers' | 'person', RateGate>;

export interface StaffServices extends Core {
  /** It is null if the operator has not set up a mail server. */
  mail: Mailer | null;
  mailLimits: MailLimits;
  signInLimits: SignInLimits;
  /** It is null if the operator has not set up an identity provider. */
  provider: IdentityProvider | null;
}

export interface Self {
  caller: Caller;
  user: SignedIn['user'];
  sessionToken: string;
  /** When they last gave their password or a code in this session. */
  provedAt: number;
}

export interface SignInOrigin {
  address: string;
  userAgent: string | undefined;
  /** The browser's cookie from earlier sign-ins; empty if it has none. */
  deviceCookie: string;
}

export interface Link {
  user: UserRow;
  path: string;
  expiresAt: number;
}
