import { PLANS_WITH_API, type Plan } from '../../contract/admin-people.ts';
import type { Right } from '../../contract/common.ts';
import type { AuditActor } from '../audit/store.ts';
import type { Row } from '../db/schema.ts';
import { ServiceError } from '../platform/errors.ts';

/** A receiver that events can be sent to: its client is active and has a URL. */
export interface Receiver {
  id: string;
  shop_id: string;
  /** The events that its client chose, in the form of the column. */
  events: string | null;
}

/** Who acts, and for which shop. Every action and every read has a caller. */
export interface Caller {
  shop: Shop;
  actor: AuditActor;
  /** Set for API clients: what they may do beyond reading. */
  rights?: readonly Right[];
  /** Set for API clients: the receiver of what they create, also if nothing can be sent to it now. */
  receiverId?: string;
  /** Set for API clients: that receiver; null if nothing can be sent to it now. */
  receiver?: Receiver | null;
}

/** Billing by a monthly allowance, or by usage with a cap that the shop set. `limit` null means unlimited. */
export interface Billing {
  kind: 'ALLOWANCE' | 'USAGE';
  limit: number | null;
}

const PLAN_BILLING: Record<Plan, Billing> = {
  STARTER: { kind: 'ALLOWANCE', limit: null },
  GROWTH: { kind: 'ALLOWANCE', limit: null },
  SCALE: { kind: 'ALLOWANCE', limit: 2000 },
  ENTERPRISE: { kind: 'USAGE', limit: null },
};

export const LIMIT_ERRORS = { ALLOWANCE: 'LIMIT_EXCEEDED', USAGE: 'USAGE_CAP_EXCEEDED' } as const;

export interface Shop {
  id: string;
  name: string;
  plan: Plan;
  active: boolean;
  billing: Billing;
  secondFactorRequired: boolean;
  createdAt: number;
}

/** For staff: the gate has already refused API clients. */
export const mustBeActive = (shop: Shop): void => {
  if (!shop.active) throw new ServiceError('READ_ONLY');
};

export const hasApi = ({ plan }: Pick<Shop, 'plan'>): boolean => PLANS_WITH_API.includes(plan);

export const mustHaveApi = (shop: Shop): void => {
  if (!hasApi(shop)) throw new ServiceError('PLAN_REQUIRED');
};

/** The operator's limits override the plan's. */
const billingOf = (row: Row<'shops'>): Billing => {
  if (row.billing === 'ALLOWANCE') return { kind: 'ALLOWANCE', limit: row.allowance };
  if (row.billing === 'USAGE') return { kind: 'USAGE', limit: row.usage_cap };
  return PLAN_BILLING[row.plan as Plan];
};

export const shopFrom = (row: Row<'shops'>): Shop => ({
  id: row.id,
  name: row.name,
  plan: row.plan as Plan,
  active: row.subscription === 'active',
  billing: billingOf(row),
  secondFactorRequired: row.factor_required === 1,
  createdAt: row.created_at,
});
