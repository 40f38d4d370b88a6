import type { AuditEntry } from '../../../contract/admin-people.ts';
import type { Plan } from '../../../contract/admin-plans.ts';
import { ROLE_LABELS } from '../session/session.ts';
import { texts } from '../texts.ts';

const t = texts.settings;

export const PLAN_NAMES: Record<Plan, string> = t.planNames;

/** An ended return has no target. */
export type TargetStatus = keyof typeof t.targetStatuses;

/** Where work waits, by kind, in the order of the work. */
export const TARGET_STATUSES: Record<keyof typeof t.targetKinds, readonly TargetStatus[]> = {
  repairs: ['COUNTER_SWAPPED', 'OFFLINE_DIAGNOSTICS', 'OFFLINE_REPAIR', 'OFFLINE_RESOLVED'],
  tradeReturns: ['TRADE_SUBMITTED', 'TRADE_APPROVED', 'TRADE_RECEIVED', 'TRADE_CREDIT_REQUESTED'],
};
export const TARGET_LABELS: Record<TargetStatus, string> = t.targetStatuses;

/** The operator and people who are not signed in have no name of their own. */
export const actorName = ({ actor }: AuditEntry): string =>
  actor.type === 'SYSTEM' ? (t.auditActors[actor.name] ?? actor.name) : actor.name;

/** A newer service may record actions that this page does not know. */
const ACTIONS: Record<string, (name: string) => string> = t.auditActions satisfies Record<
  AuditEntry['action'],
  unknown
>;

export const sentenceOf = ({ action, subject }: AuditEntry): string =>
  ACTIONS[action]?.(subject.name) ?? t.auditOther(action, subject.name);

/** A field that is missing here is shown by its own name. */
export const FIELD_LABELS: Record<string, string> = {
  ...t.auditFields,
  ...Object.fromEntries(Object.entries(TARGET_LABELS).map(([status, label]) => [status, t.auditDays(label)])),
};

export const VALUE_LABELS: Record<string, string> = {
  ...t.auditValues,
  ...Object.fromEntries(Object.entries(ROLE_LABELS).map(([role, { name }]) => [`role ${role}`, name])),
  ...Object.fromEntries(Object.entries(PLAN_NAMES).map(([plan, name]) => [`plan ${plan}`, name])),
  ...Object.fromEntries(
    Object.entries(texts.clients.rightNames).map(([right, label]) => [`rights ${right}`, label]),
  ),
};
