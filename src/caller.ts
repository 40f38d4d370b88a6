import type { Actor } from '../contract/common.ts';
import type { Shop } from './shops/plans.ts';

/** Who acts, and for which shop: every action and every read has a caller. */
export interface Caller {
  shop: Shop;
  actor: AuditActor;
  /** Set for API clients: whether events can be sent to them. */
  hasWebhook?: boolean;
}

/** Who acts, and in the admin app from which address: the audit log keeps it. */
export type AuditActor = Actor & { address?: string };

export const OPERATOR: Actor = { type: 'SYSTEM', id: null, name: 'operator' };

/** Who failed to sign in, or asked for a link: only the address is known. */
export const UNKNOWN_PERSON: Actor = { type: 'SYSTEM', id: null, name: 'unknown person' };
