import { rmaNumber } from '../../contract/common.ts';
import { FEWEST_DIGITS } from '../../contract/personal-data.ts';
import { fold, hasCountryCode, phoneDigits } from '../lib/fold.ts';
import type { ReturnRow } from './store.ts';

// The text that staff search in, one for each return, and what is searched for in it. Both are folded by the same rule, so both engines
// find the same returns.

/** Columns whose change renews the text. */
export const SEARCHED_COLUMNS: readonly string[] = [
  'customer_name',
  'customer_email',
  'customer_phone',
  'company_name',
  'faulty_item',
  'serial_number',
  'tracking_number',
];

/** `own` is what only this kind of return is found by. */
export const searchText = (row: ReturnRow, own: (string | null)[]): string =>
  fold(
    [
      rmaNumber(row.number),
      ...own,
      row.customer_name,
      row.customer_email,
      row.external_ref,
      row.customer_phone,
      // Also without spaces and brackets, which people write in different ways.
      row.customer_phone === null ? null : phoneDigits(row.customer_phone),
    ]
      .filter(Boolean)
      .join(' '),
  );

/** The length of all product names together. Many long ones would slow the index down, which all shops share. */
const NAMES_LENGTH = 2_000;

/** Skus and product names, of one item or many. A row whose items are damaged is still found by the rest. */
export const itemTexts = (json: string): string[] => {
  try {
    const items = [JSON.parse(json)].flat();
    const textsOf = (field: 'sku' | 'productName') =>
      items.map((item) => item[field]).filter((value): value is string => typeof value === 'string');
    return [...textsOf('sku'), [...new Set(textsOf('productName'))].join(' ').slice(0, NAMES_LENGTH)];
  } catch {
    return [];
  }
};

// --- phone numbers ---

/** Country codes have one, two or three digits, and none is the beginning of another (ITU-T E.164). */
const COUNTRY_CODE = /^(?:1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})/;

const PHONE = /^[+(]?[\d\s().+/-]+$/;

/**
 * The digits that a phone number has in every spelling, with or without its country; undefined for any other text. They are found in
 * both spellings of the number, and rarely in another country's number.
 */
export const nationalDigits = (text: string): string | undefined => {
  if (!PHONE.test(text)) return undefined;
  const digits = phoneDigits(text).replace(/^0+/, '');
  const national = hasCountryCode(text) ? digits.replace(COUNTRY_CODE, '').replace(/^0/, '') : digits;
  return national.length >= FEWEST_DIGITS ? national : undefined;
};

// --- what is searched for ---

/** A statement has no more words than this, whatever was typed. */
const MOST_WORDS = 8;

/** All of these words, or the digits of a phone number. Text that folds to nothing is searched for as it is, and found nowhere. */
export const searchedFor = (q: string): { words: string[]; phone: string | undefined } => {
  const words = fold(q).split(/\s+/).filter(Boolean).slice(0, MOST_WORDS);
  return { words: words.length > 0 ? words : [q], phone: nationalDigits(q) };
};

const lowerAscii = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/**
 * An email as `lower(customer_email)` may return it: that knows only A to Z on SQLite and in some locales of PostgreSQL. An email in
 * another script is looked up in both cases, and in both forms of Unicode. Most have one spelling.
 */
export const emailSpellings = (email: string): string[] => {
  const spellings = [email, email.toLowerCase(), email.toUpperCase()]
    .flatMap((spelling) => [spelling, spelling.normalize('NFC'), spelling.normalize('NFD')])
    .flatMap((spelling) => [lowerAscii(spelling), spelling.toLowerCase()]);
  return [...new Set(spellings)];
};
