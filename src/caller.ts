import type { Actor } from '../contract/common.ts';
import type { Shop } from './shops/plans.ts';

/** On whose behalf something is done: every action and every read is for one shop, by one actor. */
export interface Caller {
  shop: Shop;
  actor: Actor;
  /** An API client to which events can be sent. */
  hasWebhook?: boolean;
}

/** Whoever uses the command line on the server. */
export const OPERATOR: Actor = { type: 'SYSTEM', id: null, name: 'operator' };
