import { z } from 'zod';
import { PLANS_WITH_API } from './admin-plans.ts';
import { Instant } from './common.ts';
import { RETURN_TABLES } from './kinds.ts';
import { RETURN_VIEWS } from './webhook-event.ts';

// The schemas of the month's usage, and of dry runs of creations.

export const BILLING_KINDS = ['ALLOWANCE', 'USAGE'] as const;

const remaining = z.int().min(0).nullable().meta({
  description: 'How many more RMAs the shop may create this month; `null` if there is no limit.',
});

export const Usage = z
  .object({
    month: z.string().meta({ description: 'The current calendar month in UTC.' }),
    plan: z.enum(PLANS_WITH_API).meta({ id: 'Plan' }),
    billing: z.enum(BILLING_KINDS).meta({
      id: 'Billing',
      description: 'By a monthly allowance of RMAs, or by usage, with an optional cap.',
    }),
    used: z.int().min(0).meta({ description: 'RMAs created this month, by API clients and by staff.' }),
    limit: z
      .int()
      .min(0)
      .nullable()
      .meta({ description: 'The allowance or the cap; `null` if there is none.' }),
    remaining,
    resetsAt: Instant.meta({ description: 'When the next month begins.' }),
  })
  .meta({
    id: 'Usage',
    examples: [
      {
        month: '2026-11',
        plan: 'SCALE',
        billing: 'ALLOWANCE',
        used: 1240,
        limit: 2000,
        remaining: 760,
        resetsAt: '2026-12-01T00:00:00.000Z',
      },
    ],
  });
export type Usage = z.infer<typeof Usage>;

/** The response to a creation that would be accepted. */
export const DryRun = z
  .object({
    dryRun: z.literal(true),
    status: z
      .union(RETURN_TABLES.map((table) => RETURN_VIEWS[table].shape.status))
      .meta({ description: 'The status that it would start in.' }),
    isDangerous: z.boolean().nullable().meta({
      description: "Whether the shop's dangerous-goods rules apply; `null` for a trade return.",
    }),
    remaining: remaining.meta({
      description:
        'How many more RMAs the shop may create this month, including this one; `null` if there is no limit.',
    }),
  })
  .meta({
    id: 'DryRun',
    examples: [{ dryRun: true, status: 'OFFLINE_DIAGNOSTICS', isDangerous: false, remaining: 760 }],
  });
export type DryRun = z.infer<typeof DryRun>;
