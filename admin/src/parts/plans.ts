import type { Plan } from '../../../contract/admin-people.ts';

/** What people call a plan, and whether programs may call the service on it. */
export const PLAN_WORDS: Record<Plan, { name: string; hasApi: boolean }> = {
  STARTER: { name: 'Starter', hasApi: false },
  GROWTH: { name: 'Growth', hasApi: false },
  SCALE: { name: 'Scale', hasApi: true },
  ENTERPRISE: { name: 'Enterprise', hasApi: true },
};
