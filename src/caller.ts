import type { Actor } from '../contract/common.ts';
import type { Shop } from './shops/plans.ts';

/** Who acts, and for which shop: every action and every read has a caller. */
export interface Caller {
  shop: Shop;
  actor: Actor;
  /** Set for API clients: whether events can be sent to them. */
  hasWebhook?: boolean;
}

/** Whoever uses the command line on the server. */
export const OPERATOR: Actor = { type: 'SYSTEM', id: null, name: 'operator' };
