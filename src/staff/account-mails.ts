import type { Mail } from '../mail/mailer.ts';
import type { Core } from '../platform/core.ts';
import { rateLimited } from '../platform/errors.ts';
import type { Caller } from '../shops/plans.ts';
import { findShop } from '../shops/store.ts';
import type { NotifiedClient } from '../webhooks/services.ts';
import type { Link, MailLimits, StaffServices, UserRow } from './types.ts';

// Mails to people: links, changes of their account (so that they notice a change that was not theirs) and, for Admins, webhook
// receivers that keep failing (docs/contract.md).
// Names of shops and people are theirs to choose, so they are escaped and kept to one line.

const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim();

const HTML: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text: string): string => text.replaceAll(/[&<>"]/g, (sign) => HTML[sign] ?? sign);

/** Mail clients ignore style sheets, so each element has its styles. */
const PAGE_STYLE = 'font-family:sans-serif;font-size:16px;line-height:1.5';
const BUTTON =
  'background:#4151bf;border-radius:6px;color:#fff;display:inline-block;font-weight:600;padding:10px 20px;text-decoration:none';
/** A link is longer than the screen of a phone is wide. */
const LINK_STYLE = 'color:#545c6a;font-size:13px;overflow-wrap:anywhere;word-break:break-all';

interface Letter {
  subject: string;
  opening: (shop: string) => string;
  closing: string;
  request?: string;
  button?: string;
}

export const accountMail = (
  letter: Letter,
  user: Pick<UserRow, 'name' | 'email'>,
  shopName: string,
  link?: string,
): Mail => {
  const { subject, closing, request, button } = letter;
  const shop = oneLine(shopName);
  const opening = letter.opening(shop);
  const greeting = user.name ? `Hello ${oneLine(user.name)},` : 'Hello,';
  const text = [greeting, opening, closing];
  const html = text.map(escapeHtml);
  if (link) {
    const href = escapeHtml(link);
    text.splice(1, 1, `${opening}\n${request}`, link);
    html.splice(2, 0, `<a href="${href}" style="${BUTTON}">${button}</a>`);
    html.push(`<span style="${LINK_STYLE}">If the button does not work, copy this address: ${href}</span>`);
  }
  const paragraphs = html.map((paragraph) => `<p style="margin:0 0 16px">${paragraph}</p>`);
  return {
    to: user.email,
    subject: `${shop}: ${subject}`,
    text: `${text.join('\n\n')}\n`,
    html: `<!doctype html><html lang="en"><body style="${PAGE_STYLE}">${paragraphs.join('')}</body></html>`,
  };
};

const LINK_LETTERS = {
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
  withoutPasswords: {
    subject: 'sign in to your account for returns',
    opening: (shop) => `${shop} has an account for you in Handback, where its returns are handled.`,
    request: 'Sign in here:',
    button: 'Sign in',
    closing:
      'The link works once, for one hour, or for 72 hours if you never signed in. If you did not expect this, tell an Admin of your shop.',
  },
} satisfies Record<string, Letter>;

/** Mails a link to PUBLIC_URL. No header of a request can change where a mailed link leads. */
export const mailLink = (
  { mail, config }: Pick<StaffServices, 'mail' | 'config'>,
  shopName: string,
  { user, path }: Link,
): void => {
  const kind = user.last_sign_in_at === null ? 'invitation' : 'forgotten';
  const letter = LINK_LETTERS[config.passwordSignIn ? kind : 'withoutPasswords'];
  mail?.send(accountMail(letter, user, shopName, config.publicUrl + path));
};

export const EXPOSED: Letter = {
  subject: 'someone knows your password',
  opening: (shop) =>
    `Someone entered the right password for your account with ${shop} in Handback, and then ten wrong codes. They did not get in.`,
  request: 'If it was not you, sign in and choose another password here:',
  button: 'Change your password',
  closing: 'Browsers in which you signed in before go on working; others may have to wait up to a day.',
};

const SEE_DELIVERIES = { request: 'See its deliveries here:', button: 'See its deliveries' };

const failingMail = (client: string, error: string): Letter => ({
  ...SEE_DELIVERIES,
  subject: `webhooks of ${client} fail`,
  opening: (shop) =>
    `The webhook URL of the API client ${client} of ${shop} has acknowledged nothing for ten minutes. The last error: ${error}.`,
  closing:
    'Each event is tried four times and then dropped; the event feed keeps it for 30 days. You will get one more mail when the URL works again.',
});

const recoveredMail = (client: string): Letter => ({
  ...SEE_DELIVERIES,
  subject: `webhooks of ${client} work again`,
  opening: (shop) => `The webhook URL of the API client ${client} of ${shop} works again.`,
  closing: 'Events that were dropped in the meantime are not sent again: they are in the event feed.',
});

/** Mails the Admins of the client's shop that its receiver keeps failing with this error, or (null) that it works again. */
export const openReceiverMails =
  (ctx: Core & Pick<StaffServices, 'mail' | 'mailLimits'>) =>
  async ({ id, name, shopId, shopName }: NotifiedClient, error: string | null): Promise<void> => {
    const { db, config, mail, mailLimits, log } = ctx;
    if (!mail) return;
    const own = db.selectFrom('users').select(['name', 'email']).where('shop_id', '=', shopId);
    const link = `${config.publicUrl}/admin/settings/external-api/${id}`;
    const client = oneLine(name);
    const letter = error === null ? recoveredMail(client) : failingMail(client, oneLine(error));
    for (const admin of await own.where('role', '=', 'ADMIN').execute()) {
      if (await mailLimits.receivers(shopId)) mail.send(accountMail(letter, admin, shopName, link));
      else log.warn({ clientId: id, shopId }, 'too many mails about receivers; one was not sent');
    }
  };

const SENTENCES = {
  password: 'Your password was changed.',
  oldEmail: 'Your email was changed: this is no longer the address of your account.',
  newEmail: 'Your email was changed: this is now the address of your account.',
  admin: 'Your role was changed to Admin.',
  staff: 'Your role was changed to Staff: you no longer see the settings.',
  factorOn: 'A second factor was turned on: signing in now takes a code from an authenticator app.',
  factorOff: 'Your second factor was turned off: no code is asked for any more.',
  recoveryCodes: 'New recovery codes were created. The earlier ones no longer work.',
  provider:
    'It was linked to your account at the identity provider, where you sign in from now on. Its password, its second factor and all its earlier sessions have ended.',
  removed: 'It was removed: you can no longer sign in.',
} as const;
type Sentence = keyof typeof SENTENCES;

const letterAbout = (sentence: Sentence, hasPasswords: boolean): Letter => {
  const advice =
    hasPasswords && sentence !== 'removed' && sentence !== 'provider'
      ? 'choose a new password now, and '
      : '';
  return {
    subject: 'your account was changed',
    opening: (shop) => `This is about your account with ${shop} in Handback. ${SENTENCES[sentence]}`,
    closing: `If you did not expect this, ${advice}tell an Admin of your shop.`,
  };
};

export interface AccountChange {
  before: UserRow;
  after: UserRow | null;
  hasNewRecoveryCodes?: true;
}

const isJoined = ({ before, after }: AccountChange): boolean =>
  after !== null && after.provider_subject !== null && before.provider_subject !== after.provider_subject;

const mailsAbout = ({ before, after, hasNewRecoveryCodes }: AccountChange): [UserRow, Sentence][] => {
  if (!after) return [[before, 'removed']];
  if (isJoined({ before, after })) return [[after, 'provider']];
  const mails: [UserRow, Sentence][] = [];
  if (before.email !== after.email) mails.push([before, 'oldEmail'], [after, 'newEmail']);
  if (before.password_hash !== after.password_hash) mails.push([after, 'password']);
  if (before.role !== after.role) mails.push([after, after.role === 'ADMIN' ? 'admin' : 'staff']);
  if (before.factor_since !== after.factor_since)
    mails.push([after, after.factor_since === null ? 'factorOff' : 'factorOn']);
  if (hasNewRecoveryCodes) mails.push([after, 'recoveryCodes']);
  return mails;
};

export const openMailLimits = ({ rateGate, clock }: Core): MailLimits => {
  const anHour = (name: string, points: number) => rateGate([{ name, points, seconds: 60 * 60 }], clock);
  const mayMail = (name: string, points: number) => {
    const gate = anHour(name, points);
    return async (key: string): Promise<boolean> => !(await gate(key)).refused;
  };
  /** Limits people only: the command line has no limit. */
  const refuseBeyond = (name: string, points: number, keyOf: (caller: Caller) => string | null) => {
    const gate = anHour(name, points);
    return async (caller: Caller): Promise<void> => {
      const key = caller.actor.type === 'USER' ? keyOf(caller) : null;
      if (key === null) return;
      const { refused, msBeforeNext } = await gate(key);
      if (refused) throw rateLimited(msBeforeNext);
    };
  };
  const person = ({ actor }: Caller) => actor.id;
  return {
    link: mayMail('links-mailed-hour', 3),
    shopLink: mayMail('links-shop-hour', 100),
    receivers: mayMail('receiver-mails-hour', 100),
    accountChange: refuseBeyond('account-changes-hour', 20, person),
    recoveryCodes: refuseBeyond('recovery-codes-hour', 5, person),
    newEmail: refuseBeyond('new-emails-hour', 50, person),
  };
};

export const mailChanges = async (ctx: StaffServices, change: AccountChange): Promise<void> => {
  const { db, mail, config } = ctx;
  const { shop_id: shopId, last_sign_in_at } = change.before;
  // A person who never signed in has nothing yet that a stranger could take over; but someone else may have made the account.
  if (!mail || (last_sign_in_at === null && !isJoined(change))) return;
  const shop = await findShop(db, shopId);
  if (!shop) return;
  for (const [person, sentence] of mailsAbout(change))
    mail.warn(accountMail(letterAbout(sentence, config.passwordSignIn), person, shop.name));
};
