/** Letters that Unicode does not decompose into a letter and a mark. */
const PLAIN: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ħ: 'h',
  ı: 'i',
  ŧ: 't',
};
const NOT_PLAIN = new RegExp(`[${Object.keys(PLAIN).join('')}]`, 'g');

/** Apostrophes and characters that are typed instead. */
const APOSTROPHES = /['’‘ʼ`´]/g;

/** A text without case, accents and apostrophes: whoever types "smigly" or "obrien" finds Śmigły and O’Brien. */
export const fold = (text: string): string =>
  text
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .toLowerCase()
    // Some capitals decompose into a letter and a mark.
    .replaceAll(/\p{M}+/gu, '')
    .replaceAll(NOT_PLAIN, (letter) => PLAIN[letter] ?? letter)
    .replaceAll(APOSTROPHES, '');

export const hasCountryCode = (phone: string): boolean => /^\s*(?:\+|00)/.test(phone);

/** Returns the digits of a phone number without the zero in "+44 (0)20", which is not dialled. */
export const phoneDigits = (phone: string): string =>
  (hasCountryCode(phone) ? phone.replace('(0)', '') : phone).replaceAll(/\D+/g, '');
