import { z } from 'zod';
import { CodeText, isProvedBy, PasswordOrCode, User } from './admin-people.ts';
import { Id, Instant } from './common.ts';
import { email, LENGTH, optionalText, text } from './fields.ts';
import { NewPassword, newStaffEmail } from './person-fields.ts';

// The schemas of access in the admin API: links to choose a password, and the second factor.

// --- links ---

const newLink = {
  link: z.string().nullable().meta({
    description: 'Works once; shown only in this response. `null` if the person was given a password.',
  }),
  linkExpiresAt: Instant.nullable(),
  mailed: z.boolean().meta({ description: 'Whether the link is also sent to the person by email.' }),
};

export const CreatedUser = User.extend(newLink).meta({ id: 'CreatedUser' });
export type CreatedUser = z.infer<typeof CreatedUser>;

export const NewLink = z
  .object({ ...newLink, link: z.string(), linkExpiresAt: Instant })
  .meta({ id: 'NewLink' });
export type NewLink = z.infer<typeof NewLink>;

const token = () => text(LENGTH.reference, { description: 'The part of the link after the `#`.' });

export const GivenLink = z.strictObject({ token: token() }).meta({ id: 'GivenLink' });

export const LinkTarget = z
  .object({
    shop: z.object({ name: z.string() }),
    user: z.object({ email: z.string(), name: z.string().nullable() }),
    secondFactor: z.boolean().meta({ description: 'Whether a code of the second factor is needed too.' }),
  })
  .meta({ id: 'LinkTarget', description: 'The shop and the user that the link belongs to.' });
export type LinkTarget = z.infer<typeof LinkTarget>;

export const UseLink = z
  .strictObject({
    token: token(),
    password: NewPassword.nullable().default(null).meta({
      description: 'Required, unless people sign in without passwords; then it is ignored.',
    }),
    code: CodeText,
  })
  .meta({ id: 'UseLink' });
export type UseLink = z.infer<typeof UseLink>;

export const AskForLink = z
  .strictObject({ email: email({ examples: ['grace@example.com'] }) })
  .meta({ id: 'AskForLink' });

export const LinkAsked = z
  .object({ accepted: z.literal(true) })
  .meta({ id: 'LinkAsked', description: 'The same response for every address, known or not.' });

export const SignInOptions = z
  .object({
    passwordLinks: z.boolean().meta({ description: 'Whether a forgotten password can be reset by email.' }),
    passwords: z.boolean().meta({ description: 'Whether people sign in with a password.' }),
    provider: z
      .string()
      .nullable()
      .meta({
        description: 'The name of the identity provider; `null` if there is none.',
        examples: ['Example SSO'],
      }),
  })
  .meta({ id: 'SignInOptions' });
export type SignInOptions = z.infer<typeof SignInOptions>;

// --- the identity provider ---

/** The reason why a sign-in or a proof through the identity provider failed. */
export type ProviderRefusalCode =
  | 'AWAY'
  | 'INVALID'
  | 'CANCELLED'
  | 'EXPIRED'
  | 'UNVERIFIED'
  | 'UNKNOWN'
  | 'UNCONFIRMED'
  | 'OTHER_PERSON'
  | 'NOT_RECENT';

const newWindow = z.boolean().default(false).meta({
  description: 'Whether it happens in a separate window, which is closed afterwards.',
});

export const GoToProvider = z
  .strictObject({
    to: optionalText(LENGTH.freeText, { description: 'The page of the admin app to show afterwards.' }),
    newWindow,
  })
  .meta({ id: 'GoToProvider' });
export type GoToProvider = z.infer<typeof GoToProvider>;

export const ProviderAddress = z
  .object({ url: z.string().meta({ description: 'Where to send the browser.' }) })
  .meta({ id: 'ProviderAddress' });

// --- second factor ---

export const SecondFactor = z
  .object({
    isOn: z.boolean(),
    since: Instant.nullable(),
    recoveryCodesLeft: z.int().min(0),
  })
  .meta({ id: 'SecondFactor' });
export type SecondFactor = z.infer<typeof SecondFactor>;

export const NewSecondFactor = z
  .object({
    secret: z.string().meta({ description: 'The secret for an authenticator app, in Base32.' }),
    uri: z.string().meta({ description: 'The secret as an `otpauth:` URI, to be shown as a QR code.' }),
  })
  .meta({ id: 'NewSecondFactor' });
export type NewSecondFactor = z.infer<typeof NewSecondFactor>;

export const SecondFactorCode = z
  .strictObject({ code: text(LENGTH.reference, { examples: ['492039'] }) })
  .meta({ id: 'SecondFactorCode', description: 'A code of the authenticator app.' });
export type SecondFactorCode = z.infer<typeof SecondFactorCode>;

export const RecoveryCodes = z
  .object({ recoveryCodes: z.array(z.string()) })
  .meta({ id: 'RecoveryCodes', description: 'Each works once. They are shown only in this response.' });
export type RecoveryCodes = z.infer<typeof RecoveryCodes>;

// --- one's own account ---

/** A proof is something that only the person has or knows, unlike a stranger at their unlocked screen. */
export const Proof = z
  .strictObject({ password: PasswordOrCode, code: CodeText })
  .refine(...isProvedBy('password'))
  .meta({ id: 'Proof', description: 'The current password or a code; one is enough.' });
export type Proof = z.infer<typeof Proof>;

/** People who signed in through the identity provider may give neither password nor code. */
export const ChangeEmail = z
  .strictObject({ currentPassword: PasswordOrCode, code: CodeText, email: newStaffEmail() })
  .meta({ id: 'ChangeEmail' });
export type ChangeEmail = z.infer<typeof ChangeEmail>;

const OwnSession = z
  .object({
    id: Id,
    browser: z
      .string()
      .nullable()
      .meta({ examples: ['Firefox on Windows'] }),
    address: z.string().meta({ description: 'The address of its last use; for IPv6 the /64 network.' }),
    createdAt: Instant,
    lastUsedAt: Instant.meta({ description: 'Exact to the minute.' }),
    isCurrent: z.boolean().meta({ description: 'Whether it is the session of this request.' }),
  })
  .meta({ id: 'OwnSession' });
export type OwnSession = z.infer<typeof OwnSession>;

export const OwnSessions = z
  .object({ items: z.array(OwnSession) })
  .meta({ id: 'OwnSessions', description: 'Most recently used first.' });
export type OwnSessions = z.infer<typeof OwnSessions>;

export const SignInRules = z
  .strictObject({
    secondFactorRequired: z.boolean().meta({
      description:
        'Whether every user needs a second factor. A user without one can only set one up after signing in.',
    }),
  })
  .meta({ id: 'SignInRules' });
export type SignInRules = z.infer<typeof SignInRules>;
