import type { ExactMatch } from '../../contract/admin-search.ts';
import type { Row } from '../db/schema.ts';
import { rowCount, statement, statementsBy } from '../db/statements.ts';
import { from } from '../rma/store.ts';
import { isVisible, type RmaTableName } from '../rma/visibility.ts';

// Each statement is led to its rows by an index, and reads as many as an answer may have.

export const MOST_FOUND = 10;

const SHARED = ['id', 'number', 'status', 'customer_name', 'updated_at'] as const;
const OWN = {
  offline_repairs: ['order_number', 'tracking_number', 'faulty_item'],
  trade_returns: ['trade_order_number', 'company_name'],
} as const satisfies { [Table in RmaTableName]: readonly (keyof Row<Table>)[] };

/** What a search reads of a return; the last five of one kind only. */
export interface FoundRow {
  id: string;
  number: number;
  status: string;
  customer_name: string;
  updated_at: number;
  order_number?: string;
  tracking_number?: string | null;
  faulty_item?: string;
  trade_order_number?: string;
  company_name?: string;
}

const columnsOf = (table: RmaTableName) => [...SHARED, ...OWN[table]] as unknown as typeof SHARED;

/** The columns that are looked up to the letter. Tracking numbers have no index of their own: the free text leads to them. */
export const LOOKED_UP = {
  offline_repairs: {
    number: 'number',
    serial: 'serial_number',
    reference: 'external_ref',
    order: 'order_number',
  },
  trade_returns: { number: 'number', reference: 'external_ref', order: 'trade_order_number' },
} as const satisfies { [Table in RmaTableName]: Partial<Record<ExactMatch, keyof Row<Table>>> };

interface Values extends Record<string, unknown> {
  shop: string;
  limit: number;
}

export const findExact = statementsBy(({ table, column }: { table: RmaTableName; column: string }) =>
  statement(({ db }, params: Values & { value: string | number }) =>
    from(db, table)
      .select(columnsOf(table))
      .where(isVisible(params.shop, false))
      .where(column as 'number', '=', params.value as number)
      .orderBy('number', 'desc')
      .limit(rowCount(params.limit)),
  ),
);

/** The words are `word0`, `word1` … What lies beside the page is passed over by number alone. */
export const findText = statementsBy(({ table, words }: { table: RmaTableName; words: number }) =>
  statement(({ db, contains }, params: Values) => {
    let found = from(db, table).select('number').where(isVisible(params.shop, false));
    for (let i = 0; i < words; i++)
      found = found.where(contains('search_text', params[`word${i}`] as string));
    return from(db, table)
      .select(columnsOf(table))
      .where('shop_id', '=', params.shop)
      .where('number', 'in', found.orderBy('number', 'desc').limit(rowCount(params.limit)))
      .orderBy('number', 'desc');
  }),
);
