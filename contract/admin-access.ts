import { z } from 'zod';
import { CodeText, isProvedBy, PasswordOrCode, User } from './admin-people.ts';
import { Id, Instant } from './common.ts';
import { email, LENGTH, text } from './fields.ts';
import { NewPassword, staffEmail } from './person-fields.ts';

// What the admin API takes and gives about access: links with which people choose a password, and the second factor.

// --- links ---

const newLink = {
  link: z.string().nullable().meta({
    description: 'Works once. It is shown this once, and `null` where the person was given a password.',
  }),
  linkExpiresAt: Instant.nullable(),
  mailed: z.boolean().meta({ description: 'Whether it is also sent to them by e-mail.' }),
};

export const CreatedUser = User.extend(newLink).meta({ id: 'CreatedUser' });
export type CreatedUser = z.infer<typeof CreatedUser>;

export const NewLink = z
  .object({ ...newLink, link: z.string(), linkExpiresAt: Instant })
  .meta({ id: 'NewLink' });
export type NewLink = z.infer<typeof NewLink>;

const token = () => text(LENGTH.reference, { description: 'What stands behind the `#` of the link.' });

export const GivenLink = z.strictObject({ token: token() }).meta({ id: 'GivenLink' });

export const LinkTarget = z
  .object({
    shop: z.object({ name: z.string() }),
    user: z.object({ email: z.string(), name: z.string().nullable() }),
    secondFactor: z.boolean().meta({ description: 'Whether a code is needed as well.' }),
  })
  .meta({ id: 'LinkTarget', description: 'Whose link it is.' });
export type LinkTarget = z.infer<typeof LinkTarget>;

export const UseLink = z
  .strictObject({ token: token(), password: NewPassword, code: CodeText })
  .meta({ id: 'UseLink' });
export type UseLink = z.infer<typeof UseLink>;

export const AskForLink = z
  .strictObject({ email: email({ examples: ['grace@example.com'] }) })
  .meta({ id: 'AskForLink' });

export const LinkAsked = z
  .object({ accepted: z.literal(true) })
  .meta({ id: 'LinkAsked', description: 'The same for every address, known or not.' });

export const SignInOptions = z
  .object({
    passwordLinks: z.boolean().meta({ description: 'Whether a forgotten password is helped by e-mail.' }),
  })
  .meta({ id: 'SignInOptions' });
export type SignInOptions = z.infer<typeof SignInOptions>;

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
    secret: z.string().meta({ description: 'For an authenticator app, in Base32.' }),
    uri: z.string().meta({ description: 'The same as an `otpauth:` address, to be shown as a QR code.' }),
  })
  .meta({ id: 'NewSecondFactor' });
export type NewSecondFactor = z.infer<typeof NewSecondFactor>;

export const ConfirmSecondFactor = z
  .strictObject({ code: text(LENGTH.reference, { examples: ['492039'] }) })
  .meta({ id: 'ConfirmSecondFactor' });

export const RecoveryCodes = z
  .object({ recoveryCodes: z.array(z.string()) })
  .meta({ id: 'RecoveryCodes', description: 'Each is good once. They are shown this once.' });
export type RecoveryCodes = z.infer<typeof RecoveryCodes>;

// --- one's own account ---

/** Something that only the person has or knows: a stranger at their unlocked screen has neither. */
export const Proof = z
  .strictObject({ password: PasswordOrCode, code: CodeText })
  .refine(...isProvedBy('password'))
  .meta({ id: 'Proof', description: 'The current password or a code; one is enough.' });
export type Proof = z.infer<typeof Proof>;

export const ChangeEmail = z
  .strictObject({ currentPassword: PasswordOrCode, code: CodeText, email: staffEmail() })
  .refine(...isProvedBy('currentPassword'))
  .meta({ id: 'ChangeEmail' });
export type ChangeEmail = z.infer<typeof ChangeEmail>;

const OwnSession = z
  .object({
    id: Id,
    browser: z
      .string()
      .nullable()
      .meta({ examples: ['Firefox on Windows'] }),
    address: z.string().meta({ description: 'Where its last use came from; an IPv6 address as its /64.' }),
    createdAt: Instant,
    lastUsedAt: Instant.meta({ description: 'Exact to the minute.' }),
    isCurrent: z.boolean().meta({ description: 'Whether this request belongs to it.' }),
  })
  .meta({ id: 'OwnSession' });
export type OwnSession = z.infer<typeof OwnSession>;

export const OwnSessions = z
  .object({ items: z.array(OwnSession) })
  .meta({ id: 'OwnSessions', description: 'The one used last first.' });
export type OwnSessions = z.infer<typeof OwnSessions>;

export const SignInRules = z
  .strictObject({
    secondFactorRequired: z.boolean().meta({
      description:
        'Whoever has no second factor sets one up after signing in, and can do nothing else before.',
    }),
  })
  .meta({ id: 'SignInRules' });
export type SignInRules = z.infer<typeof SignInRules>;
