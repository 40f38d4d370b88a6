import type { Plan } from '../../../contract/admin-plans.ts';

export const PLAN_NAMES: Record<Plan, string> = {
  STARTER: 'Starter',
  GROWTH: 'Growth',
  SCALE: 'Scale',
  ENTERPRISE: 'Enterprise',
};
