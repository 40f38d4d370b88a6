import { rmaNumber } from '../../contract/common.ts';
import type { Row } from '../db/schema.ts';

// What staff search in: one text for each return, in lower case.

type Repair = Omit<Row<'offline_repairs'>, 'search_text'>;
type TradeReturn = Omit<Row<'trade_returns'>, 'search_text'>;

const NOT_DIGITS = /\D+/g;
export const digitsOf = (text: string): string => text.replaceAll(NOT_DIGITS, '');

/** A row, as far as it is searched. */
export type Searched = Repair | TradeReturn;

/** The text of a row. Whoever changes one of its fields renews it. */
export const searchTextOf = (row: Searched): string =>
  joined(
    rmaNumber(row.number),
    ...('store_id' in row ? partsOfRepair(row) : partsOfTradeReturn(row)),
    row.customer_name,
    row.customer_email,
    row.external_ref,
    row.customer_phone,
    // Also without spaces and brackets, which everybody writes in another way.
    row.customer_phone === null ? null : digitsOf(row.customer_phone),
  );

const partsOfRepair = (row: Repair): (string | null)[] => [
  row.order_number,
  ...fieldsIn(row.faulty_item),
  row.serial_number,
  row.tracking_number,
];

const partsOfTradeReturn = (row: TradeReturn): (string | null)[] => [
  row.trade_order_number,
  row.company_name,
  row.company_id,
  ...fieldsIn(row.items),
];

/** Of all names together. Many long ones would slow the index down, which all shops share. */
const NAMES_LENGTH = 2_000;

/** Skus and product names, of one item or many. A row whose items are damaged is still found by the rest. */
const fieldsIn = (json: string): string[] => {
  try {
    const items = [JSON.parse(json)].flat();
    const textsOf = (field: 'sku' | 'productName') =>
      items.map((item) => item[field]).filter((value): value is string => typeof value === 'string');
    return [...textsOf('sku'), [...new Set(textsOf('productName'))].join(' ').slice(0, NAMES_LENGTH)];
  } catch {
    return [];
  }
};

const joined = (...parts: (string | null)[]): string => parts.filter(Boolean).join(' ').toLowerCase();
