import { z } from 'zod';
import { PLANS, SUBSCRIPTIONS } from './admin-plans.ts';
import { Actor, Id, Instant, listOf, pageQuery } from './common.ts';
import { LENGTH, optionalText, text, verbatimText } from './fields.ts';
import { KIND_NAMES } from './kinds.ts';
import {
  GivenPassword,
  isName,
  NAME,
  NewPassword,
  newStaffEmail,
  PersonName,
  staffEmail,
} from './person-fields.ts';

// The schemas of people in the admin API: the session, the team, the audit log and the shop's rules.

export { PLANS, PLANS_WITH_API, type Plan, SUBSCRIPTIONS } from './admin-plans.ts';

export const ADMIN_BASE_PATH = '/admin/api';

export const USER_ROLES = ['ADMIN', 'STAFF'] as const;
export type UserRole = (typeof USER_ROLES)[number];

// --- session ---

/** A value of `""` removes the name, and `null` leaves it unchanged. */
const changedName = verbatimText(LENGTH.name, NAME)
  .refine(...isName)
  .transform((value) => value?.trim() ?? null);

/** The code has six digits or is a recovery code; spaces and hyphens are ignored. */
export const CodeText = optionalText(LENGTH.reference, {
  description: 'A code of the authenticator app, or a recovery code. Only if a second factor is on.',
  examples: ['492039'],
});

export const SignIn = z
  .strictObject({ email: staffEmail(), password: GivenPassword, code: CodeText })
  .meta({ id: 'SignIn' });
export type SignIn = z.infer<typeof SignIn>;

export const SignedIn = z
  .object({
    user: z.object({
      id: Id,
      email: z.string(),
      name: z.string().nullable(),
      role: z.enum(USER_ROLES),
      secondFactor: z.boolean().meta({ description: 'Whether the user has a second factor.' }),
      throughProvider: z.boolean().meta({
        description:
          'Whether this session was opened through the identity provider, so it needs no second factor.',
      }),
      providerOnly: z.boolean().meta({
        description: 'Whether the user signs in through the identity provider and has no password.',
      }),
      passwordExposedAt: Instant.nullable().meta({
        description:
          'When someone entered the right password and then too many wrong codes; `null` after a new password.',
      }),
    }),
    shop: z.object({
      id: Id,
      name: z.string(),
      plan: z.enum(PLANS),
      subscription: z.enum(SUBSCRIPTIONS),
      secondFactorRequired: z.boolean(),
    }),
  })
  .meta({ id: 'SignedIn' });
export type SignedIn = z.infer<typeof SignedIn>;

/** Some requests need more than an open session: their body must have a password in this field, or a code. */
export const isProvedBy = (
  field: string,
): [(body: Record<string, unknown>) => boolean, { path: string[]; error: string; params: object }] => [
  (body) => body[field] !== null || body['code'] !== null,
  { path: [field], error: 'is required, or else a code', params: { rule: 'required' } },
];
export const PasswordOrCode = GivenPassword.nullable()
  .default(null)
  .meta({ description: 'The current password; either this or `code`.' });

export const ChangePassword = z
  .strictObject({ currentPassword: PasswordOrCode, code: CodeText, newPassword: NewPassword })
  .refine(...isProvedBy('currentPassword'))
  .meta({ id: 'ChangePassword' });
export type ChangePassword = z.infer<typeof ChangePassword>;

// --- first start ---

export const SetUpDone = z
  .object({
    shop: z.object({ id: Id, name: z.string() }),
    user: z.object({ id: Id, email: z.string() }),
  })
  .meta({ id: 'SetUpDone' });

// --- users ---

export const User = z
  .object({
    id: Id,
    email: z.string(),
    name: z.string().nullable(),
    role: z.enum(USER_ROLES),
    createdAt: Instant,
    lastSignInAt: Instant.nullable().meta({ description: 'When the user last signed in; `null` if never.' }),
    secondFactor: z.boolean(),
    providerOnly: z.boolean().meta({
      description: 'Whether the user signs in through the identity provider and has no password.',
    }),
    emailConfirmed: z.boolean().meta({
      description:
        'Whether an Admin gave the email, or a link mailed to it was used. If not, the identity provider cannot join the account by it.',
    }),
  })
  .meta({ id: 'User' });
export type User = z.infer<typeof User>;

export const UserList = listOf(User).meta({ id: 'UserList', description: 'Newest first.' });

export const UserQuery = z.strictObject(pageQuery);
export type UserQuery = z.infer<typeof UserQuery>;

/** Without this flag people of the identity provider get neither a password nor a link. */
const besideProvider = z.boolean().default(false).meta({
  description:
    'Also gives a password to a user who signs in through the identity provider. It works even after their account there is closed.',
});

export const GiveLink = z.strictObject({ besideProvider }).meta({ id: 'GiveLink' });
export type GiveLink = z.infer<typeof GiveLink>;

export const CreateUser = z
  .strictObject({
    email: newStaffEmail(),
    name: PersonName,
    role: z.enum(USER_ROLES),
    password: NewPassword.nullable().default(null).meta({
      description: 'Without a password the response has a link for the person to choose one.',
    }),
  })
  .meta({ id: 'CreateUser' });
export type CreateUser = z.infer<typeof CreateUser>;

export const ChangeUser = z
  .strictObject({
    email: newStaffEmail().nullable().default(null),
    name: changedName,
    role: z.enum(USER_ROLES).nullable().default(null),
    password: NewPassword.nullable().default(null),
    besideProvider,
  })
  .meta({
    id: 'ChangeUser',
    description: 'Absent and `null` fields are unchanged; a `name` of `""` removes the name.',
  });
export type ChangeUser = z.infer<typeof ChangeUser>;

// --- dangerous goods ---

const MOST_RULES = 1000;

export const ReplaceDangerousGoods = z
  .strictObject({
    rules: z.array(text(LENGTH.reference, { examples: ['BATT-*'] })).max(MOST_RULES),
  })
  .meta({ id: 'ReplaceDangerousGoods' });

export const DangerousGoods = z
  .object({
    rules: z.array(z.string()).meta({ description: 'Exact skus, or prefixes that end in `*`.' }),
  })
  .meta({ id: 'DangerousGoods' });
export type DangerousGoods = z.infer<typeof DangerousGoods>;

// --- audit log ---

const AUDIT_ACTIONS = [
  'SHOP_CREATED',
  'SHOP_CHANGED',
  'DANGEROUS_GOODS_CHANGED',
  'TARGET_DAYS_CHANGED',
  'CLIENT_CREATED',
  'CLIENT_CHANGED',
  'CLIENT_REVOKED',
  'CLIENT_REPLACED',
  'USER_CREATED',
  'USER_CHANGED',
  'USER_REMOVED',
  'LINK_MADE',
  'LINK_ASKED',
  'LINK_USED',
  'SIGNED_IN',
  'SIGN_IN_REFUSED',
  'SIGN_IN_CODE_REFUSED',
  'SIGN_IN_LOCKED',
  'PROVIDER_LINKED',
  'PROVIDER_UNLINKED',
  'PROVIDER_REFUSED',
  'PROOF_REFUSED',
  'SECOND_FACTOR_ON',
  'SECOND_FACTOR_OFF',
  'SECOND_FACTOR_RESET',
  'RECOVERY_CODES_MADE',
  'RECOVERY_CODE_USED',
  'RETURN_CORRECTED',
  'SHOP_SETTINGS_CHANGED',
  'EXPORTED',
  'BACKED_UP',
  'RESTORED',
  'CUSTOMER_EXPORTED',
  'CUSTOMER_ERASED',
  'FORGETTING_CHANGED',
  'FORMER_EMPLOYEE_ERASED',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];
const AUDIT_SUBJECTS = ['SHOP', 'CLIENT', 'USER', 'RETURN'] as const;
export type AuditSubjectType = (typeof AUDIT_SUBJECTS)[number];

const AuditEntry = z
  .object({
    id: Id,
    at: Instant,
    actor: Actor,
    action: z.enum(AUDIT_ACTIONS),
    subject: z.object({
      type: z.enum(AUDIT_SUBJECTS),
      id: Id,
      name: z.string().meta({ description: 'The name at that time.' }),
    }),
    data: z.record(z.string(), z.unknown()).meta({
      description: 'What was set or changed, for example `{ "role": { "from": "STAFF", "to": "ADMIN" } }`.',
    }),
    address: z.string().nullable().meta({
      description:
        'The address of the request: an IPv4 address, or an IPv6 network (/64). `null` for the command line.',
    }),
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntry = z.infer<typeof AuditEntry>;

export const AuditLog = listOf(AuditEntry).meta({ id: 'AuditLog', description: 'Newest first.' });

export const RecordExport = z
  .strictObject({
    kind: z.enum(KIND_NAMES),
    count: z.int().min(0).max(1_000_000),
  })
  .meta({ id: 'RecordExport' });

export const AuditQuery = z.strictObject(pageQuery);
export type AuditQuery = z.infer<typeof AuditQuery>;
