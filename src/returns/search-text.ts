import { rmaNumber } from '../../contract/common.ts';

// What staff search in: one text for each return, in lower case.

const NOT_DIGITS = /\D+/g;
export const digitsOf = (text: string): string => text.replaceAll(NOT_DIGITS, '');

interface Searched {
  number: number;
  customer_name: string;
  customer_email: string;
  customer_phone: string | null;
  external_ref: string | null;
}

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
export const searchText = (row: Searched, own: (string | null)[]): string =>
  [
    rmaNumber(row.number),
    ...own,
    row.customer_name,
    row.customer_email,
    row.external_ref,
    row.customer_phone,
    // Also without spaces and brackets, which people write in different ways.
    row.customer_phone === null ? null : digitsOf(row.customer_phone),
  ]
    .filter(Boolean)
    .join(' ')
    .toLowerCase();

/** Of all names together. Many long ones would slow the index down, which all shops share. */
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
