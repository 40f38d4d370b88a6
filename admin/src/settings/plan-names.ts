import type { Plan } from '../../../contract/admin-plans.ts';

/** What people call a plan. */
export const PLAN_NAMES: Record<Plan, string> = {
  STARTER: 'Starter',
  GROWTH: 'Growth',
  SCALE: 'Scale',
  ENTERPRISE: 'Enterprise',
};
