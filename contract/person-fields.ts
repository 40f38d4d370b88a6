import { z } from 'zod';
import { email, LENGTH, optionalText } from './fields.ts';

// The fields of a person (email, name, password) have a separate file, so that the first pages load little.

export const PASSWORD_LENGTH = { least: 10, most: 200 } as const;

/** A password is used as typed, including spaces. Long ones are rejected before they are hashed, which is expensive. */
const password = (least: number) =>
  z
    .string()
    .check((ctx) => {
      const length = [...ctx.value].length;
      const wrong = (rule: string, message: string) =>
        ctx.issues.push({ code: 'custom', input: ctx.value, message, params: { rule } });
      if (length < least) wrong('minLength', `must be at least ${least} characters long`);
      if (length > PASSWORD_LENGTH.most)
        wrong('maxLength', `must be at most ${PASSWORD_LENGTH.most} characters long`);
    })
    .meta({ format: 'password', minLength: least, maxLength: PASSWORD_LENGTH.most });
export const NewPassword = password(PASSWORD_LENGTH.least);
/** A password that is only compared. A short one is wrong, not invalid. */
export const GivenPassword = password(1);

const EMAIL_ABOUT = { examples: ['grace@example.com'] };
/** An existing address. Older accounts may have letters beyond ASCII. */
export const staffEmail = () => email(EMAIL_ABOUT);
/** A new address has only ASCII, since other letters can look like ASCII or become ASCII in lower case. */
export const newStaffEmail = () =>
  email({ ...EMAIL_ABOUT, format: 'email' }).refine((value) => /^[!-~]*$/.test(value), {
    error: 'must have only letters from a to z, digits and signs: no accents, no other scripts',
    params: { rule: 'ascii' },
  });

/** API clients see the name in timelines, so it must not be an email address (docs/contract.md). */
export const NAME = {
  description: 'The name in timelines. API clients see `Staff` for a person without a name.',
  examples: ['Grace Muller'],
  pattern: '^[^@\\x00]*$',
};
export const isName = [
  (value: string | null) => !value?.includes('@'),
  { error: 'must be a name, not an email address', params: { rule: 'name' } },
] as const;
export const PersonName = optionalText(LENGTH.name, NAME).refine(...isName);
