import { rmaNumber } from '../../contract/common.ts';
import { FEWEST_DIGITS } from '../../contract/personal-data.ts';
import { fold, hasCountryCode, phoneDigits } from '../lib/fold.ts';
import type { ReturnRow } from './store.ts';

// The text of each return that staff search, and the words of a search. Both are folded by the same rule, so both engines
// find the same returns.

/** If one of these columns changes, so does the search text. */
export const SEARCHED_COLUMNS: readonly string[] = [
  'customer_name',
  'customer_email',
  'customer_phone',
  'company_name',
  'faulty_item',
  'serial_number',
  'tracking_number',
];

/** `own` are the texts of the kind. */
export const searchText = (row: ReturnRow, own: (string | null)[]): string =>
  fold(
    [
      rmaNumber(row.number),
      ...own,
      row.customer_name,
      row.customer_email,
      row.external_ref,
      row.customer_phone,
      // The digits alone, since people write spaces and brackets in different ways.
      row.customer_phone === null ? null : phoneDigits(row.customer_phone),
    ]
      .filter(Boolean)
      .join(' '),
  );

/** The maximum length of all product names together. Long texts would slow down the index, which all shops share. */
const NAMES_LENGTH = 2_000;

/** SKUs and product names of one or many items. A row with damaged items is still found by its other texts. */
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

/** Country codes have one to three digits, and none is a prefix of another (ITU-T E.164). */
const COUNTRY_CODE = /^(?:1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})/;

const PHONE = /^[+(]?[\d\s().+/-]+$/;

/**
 * The digits that every spelling of a phone number contains, with or without its country; undefined for other texts. They are rarely
 * part of another country's number.
 */
export const nationalDigits = (text: string): string | undefined => {
  if (!PHONE.test(text)) return undefined;
  const digits = phoneDigits(text).replace(/^0+/, '');
  const national = hasCountryCode(text) ? digits.replace(COUNTRY_CODE, '').replace(/^0/, '') : digits;
  return national.length >= FEWEST_DIGITS ? national : undefined;
};

// --- the words of a search ---

const MOST_WORDS = 8;

/**
 * Returns the words that all must match, or the digits of a phone number. A text that folds to nothing stays as it is and matches
 * nothing.
 */
export const searchedFor = (q: string): { words: string[]; phone: string | undefined } => {
  const words = fold(q).split(/\s+/).filter(Boolean).slice(0, MOST_WORDS);
  return { words: words.length > 0 ? words : [q], phone: nationalDigits(q) };
};

const lowerAscii = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/**
 * The spellings of an email that `lower(customer_email)` may return: on SQLite and in some locales of PostgreSQL it lowers only A
 * to Z. An email in another script is looked up in both cases and in both Unicode forms. Most emails have one spelling.
 */
export const emailSpellings = (email: string): string[] => {
  const spellings = [email, email.toLowerCase(), email.toUpperCase()]
    .flatMap((spelling) => [spelling, spelling.normalize('NFC'), spelling.normalize('NFD')])
    .flatMap((spelling) => [lowerAscii(spelling), spelling.toLowerCase()]);
  return [...new Set(spellings)];
};
