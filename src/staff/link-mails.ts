import type { Mail } from '../mail/mailer.ts';

// What people are mailed. Names of shops and people are theirs to choose, so they are escaped and kept to one line.

export const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim();

const HTML: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
export const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (sign) => HTML[sign] ?? sign);

interface Letter {
  to: string;
  name: string | null;
  shopName: string;
  link: string;
}

const WORDS = {
  invitation: {
    subject: (shop: string) => `${shop}: your account for returns`,
    opening: (shop: string) =>
      `${shop} has made an account for you in Handback, where its returns are handled.`,
    request: 'Choose a password here:',
    button: 'Choose a password',
    closing: 'The link works once, for 72 hours. If you did not expect this, you need not do anything.',
  },
  forgotten: {
    subject: (shop: string) => `${shop}: choose a new password`,
    opening: (shop: string) => `Somebody asked for a new password for your account with ${shop} in Handback.`,
    request: 'Choose it here:',
    button: 'Choose a new password',
    closing: 'The link works once, for one hour. If it was not you, your password stays as it is.',
  },
} as const;

/** Mail programs know no style sheets. */
const BUTTON =
  'background:#4151bf;border-radius:6px;color:#fff;display:inline-block;font-weight:600;padding:10px 20px;text-decoration:none';
/** Its address is longer than a phone is wide. */
const ADDRESS = 'color:#545c6a;font-size:13px;overflow-wrap:anywhere;word-break:break-all';

const letter = (kind: keyof typeof WORDS, { to, name, shopName, link }: Letter): Mail => {
  const { subject, opening, request, button, closing } = WORDS[kind];
  const shop = oneLine(shopName);
  const greeting = name ? `Hello ${oneLine(name)},` : 'Hello,';
  const paragraph = (content: string) => `<p style="margin:0 0 16px">${content}</p>`;
  const href = escaped(link);
  return {
    to,
    subject: subject(shop),
    text: `${greeting}\n\n${opening(shop)}\n${request}\n\n${link}\n\n${closing}\n`,
    html: `<!doctype html><html lang="en"><body style="font-family:sans-serif;font-size:16px;line-height:1.5">${[
      escaped(greeting),
      escaped(opening(shop)),
      `<a href="${href}" style="${BUTTON}">${button}</a>`,
      closing,
      `<span style="${ADDRESS}">If the button does not work, copy this address: ${href}</span>`,
    ]
      .map(paragraph)
      .join('')}</body></html>`,
  };
};

export const invitation = (about: Letter): Mail => letter('invitation', about);
export const newPasswordLetter = (about: Letter): Mail => letter('forgotten', about);
