import type { Mail } from '../mail/mailer.ts';
import type { Context } from '../service/context.ts';
import { describeError } from '../service/log.ts';
import type { UserRow } from './users.ts';

// What people are mailed: links, changes of their account, so that a change that was not theirs is seen, and, to Admins, webhook
// receivers that keep failing (docs/contract.md).
// Names of shops and people are theirs to choose, so they are escaped and kept to one line.

const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim();

const HTML: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (sign) => HTML[sign] ?? sign);

/** Mail programs know no style sheets. */
const PAGE = 'font-family:sans-serif;font-size:16px;line-height:1.5';
const BUTTON =
  'background:#4151bf;border-radius:6px;color:#fff;display:inline-block;font-weight:600;padding:10px 20px;text-decoration:none';
/** Its address is longer than a phone is wide. */
const ADDRESS = 'color:#545c6a;font-size:13px;overflow-wrap:anywhere;word-break:break-all';

interface Letter {
  subject: string | ((client: string) => string);
  /** `about`: the API client, and the last error of its receiver. */
  opening: (shop: string, ...about: string[]) => string;
  closing: string;
  /** What the link is for, as text and on its button. */
  request?: string;
  button?: string;
}

export const accountMail = (
  letter: Letter,
  user: Pick<UserRow, 'name' | 'email'>,
  shopName: string,
  link?: string,
  about: string[] = [],
): Mail => {
  const { subject, closing, request, button } = letter;
  const shop = oneLine(shopName);
  const details = about.map(oneLine);
  const opening = letter.opening(shop, ...details);
  const greeting = user.name ? `Hello ${oneLine(user.name)},` : 'Hello,';
  const text = [greeting, opening, closing];
  const html = text.map(escaped);
  if (link) {
    const href = escaped(link);
    text.splice(1, 1, `${opening}\n${request}`, link);
    html.splice(2, 0, `<a href="${href}" style="${BUTTON}">${button}</a>`);
    html.push(`<span style="${ADDRESS}">If the button does not work, copy this address: ${href}</span>`);
  }
  const paragraphs = html.map((paragraph) => `<p style="margin:0 0 16px">${paragraph}</p>`);
  return {
    to: user.email,
    subject: `${shop}: ${typeof subject === 'string' ? subject : subject(details[0] ?? '')}`,
    text: `${text.join('\n\n')}\n`,
    html: `<!doctype html><html lang="en"><body style="${PAGE}">${paragraphs.join('')}</body></html>`,
  };
};

export const LETTERS = {
  invitation: {
    subject: 'your account for returns',
    opening: (shop) => `${shop} has created an account for you in Handback, where its returns are handled.`,
    request: 'Choose a password here:',
    button: 'Choose a password',
    closing: 'The link works once, for 72 hours. If you did not expect this, you need not do anything.',
  },
  forgotten: {
    subject: 'choose a new password',
    opening: (shop) => `Someone asked for a new password for your account with ${shop} in Handback.`,
    request: 'Choose it here:',
    button: 'Choose a new password',
    closing: 'The link works once, for one hour. If it was not you, your password stays as it is.',
  },
  exposed: {
    subject: 'someone knows your password',
    opening: (shop) =>
      `Someone entered the right password for your account with ${shop} in Handback, and then ten wrong codes. They did not get in.`,
    request: 'If it was not you, sign in and choose another password here:',
    button: 'Change your password',
    closing: 'Browsers in which you signed in before go on working; others may have to wait up to a day.',
  },
  failing: {
    subject: (client) => `webhooks of ${client} fail`,
    opening: (shop, client, error) =>
      `The webhook URL of the API client ${client} of ${shop} has acknowledged nothing for ten minutes. The last error: ${error}.`,
    request: 'See its deliveries here:',
    button: 'See its deliveries',
    closing:
      'Each event is tried four times and then dropped; the event feed keeps it for 30 days. You will get one more mail when the URL works again.',
  },
  recovered: {
    subject: (client) => `webhooks of ${client} work again`,
    opening: (shop, client) => `The webhook URL of the API client ${client} of ${shop} works again.`,
    request: 'See its deliveries here:',
    button: 'See its deliveries',
    closing: 'Events that were dropped in the meantime are not sent again: they are in the event feed.',
  },
} satisfies Record<string, Letter>;

/** To the Admins of the client's shop: its receiver keeps failing, with this error; null: it works again. */
export const openReceiverMails =
  ({ db, config, mail }: Context) =>
  async (
    { id, name, shopId, shopName }: { id: string; name: string; shopId: string; shopName: string },
    error: string | null,
  ): Promise<void> => {
    if (!mail.isOn) return;
    const own = db.selectFrom('users').select(['name', 'email']).where('shop_id', '=', shopId);
    const link = `${config.publicUrl}/admin/settings/external-api/${id}`;
    const letter = error === null ? LETTERS.recovered : LETTERS.failing;
    for (const admin of await own.where('role', '=', 'ADMIN').execute())
      mail.send(accountMail(letter, admin, shopName, link, [name, error ?? '']));
  };

export type MailReceiverState = ReturnType<typeof openReceiverMails>;

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
type Sentence = keyof typeof SENTENCES;

const letterAbout = (sentence: Sentence): Letter => ({
  subject: 'your account was changed',
  opening: (shop) => `This is about your account with ${shop} in Handback. ${SENTENCES[sentence]}`,
  closing: `If you did not expect this, ${sentence === 'removed' ? '' : 'choose a new password now, and '}tell an Admin of your shop.`,
});

export interface AccountChange {
  before: UserRow;
  /** null: the account was removed. */
  after: UserRow | null;
  hasNewRecoveryCodes?: true;
}

const mailsAbout = ({ before, after, hasNewRecoveryCodes }: AccountChange): [UserRow, Sentence][] => {
  if (!after) return [[before, 'removed']];
  const mails: [UserRow, Sentence][] = [];
  if (before.email !== after.email) mails.push([before, 'oldEmail'], [after, 'newEmail']);
  if (before.password_hash !== after.password_hash) mails.push([after, 'password']);
  if (before.role !== after.role) mails.push([after, after.role === 'ADMIN' ? 'admin' : 'staff']);
  if (before.factor_since !== after.factor_since)
    mails.push([after, after.factor_since === null ? 'factorOff' : 'factorOn']);
  if (hasNewRecoveryCodes) mails.push([after, 'recoveryCodes']);
  return mails;
};

/** By shop, whose name must not become a way to send advertisements. Without a proof a stranger cannot use it up to stay unseen. */
const WINDOWS = [{ name: 'account-mails-hour', points: 100, seconds: 60 * 60 }] as const;

/** Call it after the commit. A mail that cannot be sent is logged; the change stands. */
export const openAccountMails = ({ rateGate, clock, log, mail }: Context) => {
  const gate = rateGate(WINDOWS, clock);
  return async (shop: { id: string; name: string }, change: AccountChange): Promise<void> => {
    // A person who never signed in has nothing yet that a stranger could take over.
    if (!mail.isOn || change.before.last_sign_in_at === null) return;
    try {
      for (const [person, sentence] of mailsAbout(change)) {
        if ((await gate(shop.id)).refused)
          return log.warn({ shopId: shop.id }, 'too many account mails; one was not sent');
        mail.send(accountMail(letterAbout(sentence), person, shop.name));
      }
    } catch (error) {
      log.warn({ shopId: shop.id, error: describeError(error) }, 'a mail about an account could not be sent');
    }
  };
};

export type MailAccountChanges = ReturnType<typeof openAccountMails>;
