import { ALLOWANCE_RULES } from './allowance-rules.ts';
import { DELIVERY_RULES } from './delivery-rules.ts';
import { EVENT_RULES } from './event-rules.ts';
import type { History } from './history.ts';
import type { Kept } from './kept.ts';
import { PROMISE_RULES } from './promise-rules.ts';

// What must be true of every run, whatever was done to the service meanwhile.

const RULES = { ...PROMISE_RULES, ...ALLOWANCE_RULES, ...EVENT_RULES, ...DELIVERY_RULES } as const;
export type RuleName = keyof typeof RULES;
export const RULE_NAMES = Object.keys(RULES) as RuleName[];

export interface HistoryFault {
  rule: RuleName;
  /** In plain words. */
  what: string;
}

/** Everything that is wrong with a history, given what stands in the database at its end. */
export const check = (history: History, kept: Kept): HistoryFault[] =>
  RULE_NAMES.flatMap((rule) => RULES[rule](history, kept).map((what) => ({ rule, what })));
