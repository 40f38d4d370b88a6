// Numbers as people type and paste them: 1299.5, 1,299.50, 1.299,50, 1 299,50 or 1'299.50, with or without a currency sign.

/** Plain digits with a point, as the service takes them; two such where both are possible; null where it is no number. */
export type Reading = string | readonly [string, string] | null;

const CURRENCY_SIGNS = /^\p{Sc}|\p{Sc}$/gu;
/** Spaces of every kind and apostrophes only ever stand between thousands. */
const THOUSANDS_ONLY = /[\s'’]/gu;
/** By three as in most countries, or as in India: 12,34,567. */
const GROUPED = /^[1-9]\d{0,2}([.,'])\d{3}(?:\1\d{3})*$|^[1-9]\d?(?:,\d{2})+,\d{3}$/;

/** The digits in front of the decimals; null where they are grouped in no way that anyone writes. */
const wholeOf = (text: string): string | null => {
  if (!/^\d*$/.test(text) && !GROUPED.test(text)) return null;
  return text.replace(/\D/g, '').replace(/^0+(?=\d)/, '') || '0';
};

/** With the decimals that its currency has, a price can be read in one way only: 1,299 is 1299 where a cent is the least. */
export const readNumber = (typed: string, most = Number.POSITIVE_INFINITY): Reading => {
  const text = typed.trim().replace(CURRENCY_SIGNS, '').trim().replace(THOUSANDS_ONLY, "'");
  const [, sign = '', rest = ''] = /^([-−]?)(.*)$/.exec(text) ?? [];
  if (!/\d/.test(rest)) return null;
  const at = Math.max(rest.lastIndexOf('.'), rest.lastIndexOf(','));
  // A sign that is there twice stands between thousands.
  const hasDecimals = at >= 0 && rest.indexOf(rest.charAt(at)) === at;
  const front = hasDecimals ? rest.slice(0, at) : rest;
  const decimals = hasDecimals ? rest.slice(at + 1) : '';
  const whole = wholeOf(front);
  if (whole === null || !/^\d*$/.test(decimals)) return null;
  const minus = sign && '-';
  // 1,299 and 1.299 are thousands to one person and decimals to the next. With a fourth decimal there is no such doubt.
  if (decimals.length === 3 && /^[1-9]\d{0,2}$/.test(front)) {
    const thousands = `${minus}${whole}${decimals}`;
    return most < 3 ? thousands : [thousands, `${minus}${whole}.${decimals}0`];
  }
  return `${minus}${whole}${decimals && `.${decimals}`}`;
};

/** Whether it has more decimals than its currency; noughts at the end do not count. */
export const isTooFine = (reading: Reading, most = Number.POSITIVE_INFINITY): boolean =>
  typeof reading === 'string' && (/\.(\d*[1-9])0*$/.exec(reading)?.[1]?.length ?? 0) > most;

/** The value of a number input for the request body; undefined where it is empty. The schema refuses what cannot be read. */
export const numberOf = (typed: string, most = Number.POSITIVE_INFINITY): number | string | undefined => {
  if (typed.trim() === '') return undefined;
  const reading = readNumber(typed, most);
  return typeof reading === 'string' && !isTooFine(reading, most) ? Number(reading) : typed;
};
/** For an optional number: null where the input is empty. */
export const optionalNumberOf = (typed: string): number | string | null => numberOf(typed) ?? null;
