// The plans of shops are plain data, so that importing them loads no schema.

export const PLANS = ['STARTER', 'GROWTH', 'SCALE', 'ENTERPRISE'] as const;
export type Plan = (typeof PLANS)[number];
/** The plans that include the External API and webhooks. */
export const PLANS_WITH_API: readonly Plan[] = ['SCALE', 'ENTERPRISE'];
export const SUBSCRIPTIONS = ['active', 'inactive'] as const;
