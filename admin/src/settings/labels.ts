import type { AuditEntry } from '../../../contract/admin-people.ts';
import type { Plan } from '../../../contract/admin-plans.ts';
import type { TargetDays } from '../../../contract/admin-work.ts';
import { ROLE_LABELS } from '../session/session.ts';
import { RIGHT_LABELS } from '../shop-queries.ts';

export const PLAN_NAMES: Record<Plan, string> = {
  STARTER: 'Starter',
  GROWTH: 'Growth',
  SCALE: 'Scale',
  ENTERPRISE: 'Enterprise',
};

type Status = TargetDays['targets'][number]['status'];

/** Where work waits, as a sentence goes on after "So many days": by kind, in the order of the work. */
export const TARGET_STATUSES: readonly { kind: string; status: Status; label: string }[] = [
  { kind: 'Offline repairs', status: 'COUNTER_SWAPPED', label: 'after a swap at the counter' },
  { kind: 'Offline repairs', status: 'OFFLINE_DIAGNOSTICS', label: 'in diagnostics' },
  { kind: 'Offline repairs', status: 'OFFLINE_REPAIR', label: 'in repair' },
  { kind: 'Offline repairs', status: 'OFFLINE_RESOLVED', label: 'resolved but not closed' },
  { kind: 'Trade returns', status: 'TRADE_SUBMITTED', label: 'submitted, waiting for an answer' },
  { kind: 'Trade returns', status: 'TRADE_APPROVED', label: 'approved, goods on their way' },
  { kind: 'Trade returns', status: 'TRADE_RECEIVED', label: 'received, to be checked' },
  { kind: 'Trade returns', status: 'TRADE_CREDIT_REQUESTED', label: 'credit requested, not yet resolved' },
];

export const ACTION_LABELS: Record<AuditEntry['action'], string> = {
  SHOP_CREATED: 'Created the shop',
  SHOP_CHANGED: 'Changed the shop',
  DANGEROUS_GOODS_CHANGED: 'Changed the dangerous-goods rules',
  TARGET_DAYS_CHANGED: 'Changed the target days',
  CLIENT_CREATED: 'Created an API client',
  CLIENT_CHANGED: 'Changed an API client',
  CLIENT_REVOKED: 'Revoked an API client',
  CLIENT_REPLACED: 'Replaced an API client',
  USER_CREATED: 'Added a person',
  USER_CHANGED: 'Changed a person',
  USER_REMOVED: 'Removed a person',
  LINK_MADE: 'Made a link to choose a password',
  LINK_ASKED: 'Asked for a link to choose a password',
  LINK_USED: 'Chose a password with a link',
  SIGNED_IN: 'Signed in',
  SIGN_IN_REFUSED: 'Failed to sign in: wrong password',
  SIGN_IN_CODE_REFUSED: 'Failed to sign in: right password, wrong code',
  PROOF_REFUSED: 'Wrong password or code in an open session',
  SIGN_IN_LOCKED: 'Tried to sign in while locked',
  SECOND_FACTOR_ON: 'Turned on the second factor',
  SECOND_FACTOR_OFF: 'Turned off the second factor',
  SECOND_FACTOR_RESET: 'Reset the second factor',
  RECOVERY_CODES_MADE: 'Made new recovery codes',
  RECOVERY_CODE_USED: 'Used a recovery code',
  RETURN_CORRECTED: 'Corrected a return',
  SHOP_SETTINGS_CHANGED: 'Changed the shop’s settings',
  EXPORTED: 'Exported returns',
  BACKED_UP: 'Made a backup of everything',
  RESTORED: 'Restored everything from a backup',
  CUSTOMER_EXPORTED: 'Exported the data of a customer',
  CUSTOMER_ERASED: 'Erased the data of a customer',
  FORGETTING_CHANGED: 'Changed when customers are forgotten',
  FORMER_EMPLOYEE_ERASED: 'Erased the name of a former employee',
};

export const ACTOR_LABELS: Record<AuditEntry['actor']['type'], string> = {
  USER: 'Team',
  API_CLIENT: 'API client',
  SYSTEM: 'Service',
};

export const SUBJECT_LABELS: Record<AuditEntry['subject']['type'], string> = {
  SHOP: 'Shop',
  CLIENT: 'API client',
  USER: 'Person',
  RETURN: 'Return',
};

/** A field that is missing here is shown by its own name. */
export const FIELD_LABELS: Record<string, string> = {
  name: 'Name',
  webhookUrl: 'Webhook URL',
  rights: 'May do',
  events: 'Events it is sent',
  expiresAt: 'Key works until',
  oldKeyUntil: 'Old key works until',
  replacedBy: 'Replaced by',
  email: 'E-mail',
  role: 'Role',
  passwordChanged: 'New password',
  plan: 'Plan',
  subscription: 'Subscription',
  billing: 'Billing',
  limit: 'Monthly limit',
  secondFactorRequired: 'Second factor',
  recoveryCodesLeft: 'Codes left',
  ...Object.fromEntries(TARGET_STATUSES.map(({ status, label }) => [status, `Days ${label}`])),
  added: 'Added',
  removed: 'Removed',
  fields: 'Fields',
  address: 'Address',
  phone: 'Phone',
  currency: 'Currency',
  timeZone: 'Time zone',
  slipText: 'Text on slips',
  logo: 'Logo',
  count: 'How many',
  kind: 'Kind',
  madeAt: 'Backup made at',
  reason: 'Reason',
  returns: 'Returns',
  erased: 'Returns erased',
  offlineRepairMonths: 'Months until repairs are forgotten',
  tradeReturnMonths: 'Months until trade returns are forgotten',
};

export const VALUE_LABELS: Record<string, string> = {
  ...Object.fromEntries(Object.entries(ROLE_LABELS).map(([role, { name }]) => [`role ${role}`, name])),
  ...Object.fromEntries(Object.entries(PLAN_NAMES).map(([plan, name]) => [`plan ${plan}`, name])),
  ...Object.fromEntries(Object.entries(RIGHT_LABELS).map(([right, label]) => [`rights ${right}`, label])),
  'rights ': 'Read only',
  'events null': 'The default ones',
  'expiresAt null': 'No end',
  'billing ALLOWANCE': 'By plan',
  'billing USAGE': 'By use',
  'passwordChanged true': 'Set',
  'secondFactorRequired true': 'Required',
  'secondFactorRequired false': 'Up to each person',
  'kind OFFLINE_REPAIR': 'Repairs',
  'kind TRADE_RETURN': 'Trade returns',
  'logo replaced': 'Replaced',
  'logo removed': 'Removed',
  'offlineRepairMonths null': 'Never',
  'tradeReturnMonths null': 'Never',
};
