import type { Base } from '../base.ts';
import type { Row } from '../db/schema.ts';
import { describeError } from '../describe-error.ts';
import type { Mail, Mailer } from '../mail/mailer.ts';
import { escaped, oneLine } from './link-mails.ts';

// What people are mailed when their account changed, so that a change that was not theirs is seen (contract §22).

const SENTENCES = {
  password: 'Your password was changed.',
  oldEmail: 'Your e-mail was changed: you no longer sign in with this address.',
  newEmail: 'Your e-mail was changed: you now sign in with this address.',
  admin: 'Your role was changed to Admin.',
  staff: 'Your role was changed to Staff: you no longer see the settings.',
  factorOn: 'A second factor was turned on: signing in now takes a code from an authenticator app.',
  factorOff: 'Your second factor was turned off: signing in now takes the password alone.',
  recoveryCodes: 'New recovery codes were created. The earlier ones no longer work.',
  removed: 'It was removed: you can no longer sign in.',
} as const;
type Change = keyof typeof SENTENCES;
type Person = Row<'users'>;

const closingOf = (change: Change): string =>
  `If you did not expect this, ${change === 'removed' ? '' : 'choose a new password now, and '}tell an Admin of your shop.`;

const changeMail = (shopName: string, { email, name }: Person, change: Change): Mail => {
  const shop = oneLine(shopName);
  const greeting = name ? `Hello ${oneLine(name)},` : 'Hello,';
  const paragraphs = [
    greeting,
    `This is about your account with ${shop} in Handback. ${SENTENCES[change]}`,
    closingOf(change),
  ];
  return {
    to: email,
    subject: `${shop}: your account was changed`,
    text: `${paragraphs.join('\n\n')}\n`,
    html: `<!doctype html><html lang="en"><body style="font-family:sans-serif;font-size:16px;line-height:1.5">${paragraphs
      .map((paragraph) => `<p style="margin:0 0 16px">${escaped(paragraph)}</p>`)
      .join('')}</body></html>`,
  };
};

const mailsBetween = (before: Person, after: Person | null): [Person, Change][] => {
  if (!after) return [[before, 'removed']];
  const mails: [Person, Change][] = [];
  if (before.email !== after.email) mails.push([before, 'oldEmail'], [after, 'newEmail']);
  if (before.password_hash !== after.password_hash) mails.push([after, 'password']);
  if (before.role !== after.role) mails.push([after, after.role === 'ADMIN' ? 'admin' : 'staff']);
  if (before.factor_since !== after.factor_since)
    mails.push([after, after.factor_since === null ? 'factorOff' : 'factorOn']);
  return mails;
};

/** By shop, whose name must not become a way to send advertisements. Without a proof a stranger cannot use it up to stay unseen. */
const WINDOWS = [{ name: 'account-mails-hour', points: 100, seconds: 60 * 60 }] as const;

export type MailAccountChanges = (
  shop: { id: string; name: string },
  before: Person,
  /** null: the account was removed. */
  after: Person | null,
  hasNewRecoveryCodes?: boolean,
) => Promise<void>;

/** Call it after the commit. A mail that cannot be sent is logged: the change is made all the same. */
export const openAccountMails = (
  { rateGate, clock, log }: Pick<Base, 'rateGate' | 'clock' | 'log'>,
  mail: Mailer,
): MailAccountChanges => {
  const gate = rateGate(WINDOWS, clock);
  return async (shop, before, after, hasNewRecoveryCodes = false) => {
    // A person who never signed in has nothing yet that a stranger could take over.
    if (!mail.isOn || before.last_sign_in_at === null) return;
    const mails = mailsBetween(before, after);
    if (hasNewRecoveryCodes) mails.push([before, 'recoveryCodes']);
    try {
      for (const [person, change] of mails) {
        if ((await gate(shop.id)).refused)
          return log.warn({ shopId: shop.id }, 'too many account mails; one was not sent');
        mail.send(changeMail(shop.name, person, change));
      }
    } catch (error) {
      log.warn({ shopId: shop.id, fault: describeError(error) }, 'a mail about an account could not be sent');
    }
  };
};
