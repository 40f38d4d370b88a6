import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { RMA_COLUMNS } from '../db/schema.ts';
import { statement, statementsBy } from '../db/statements.ts';
import type { ListColumns } from '../paging/row-size.ts';
import { from } from './store.ts';
import type { RmaRow, RmaTableName } from './visibility.ts';

type Column = (typeof RMA_COLUMNS)['offline_repairs'][number];

/** A row as lists read it: without the text for searches. */
export type ListedRow<Table extends RmaTableName> = Omit<RmaRow<Table>, 'search_text'>;

const shown = (table: RmaTableName) => RMA_COLUMNS[table].filter((column) => column !== 'search_text');

/** Both kinds, typed as if they were one: shared code is written for one table and works on either. */
export const LISTED_COLUMNS: Record<RmaTableName, ListColumns<Column>> = {
  offline_repairs: {
    all: shown('offline_repairs'),
    longTexts: ['fault_description', 'notes', 'repair_notes'],
  },
  trade_returns: {
    all: shown('trade_returns'),
    longTexts: ['items', 'reason', 'customer_notes', 'fault_description', 'additional_comment'],
    behindFirst: [
      'shipping_address',
      'order_date',
      'created_at',
      'updated_at',
      'status_since',
      'assignee_id',
    ],
  } as object as ListColumns<Column>,
};

const listedById = statementsBy((table: RmaTableName) =>
  statement(({ db, oneOf }, { ids }: { ids: string[] }) =>
    from(db, table)
      .select(LISTED_COLUMNS[table].all)
      .where(sql<boolean>`id ${oneOf('id', ids)}`),
  ),
);

/** Reads rows of a page again, with all of their texts. Not on the connections that short reads share. */
export const readListed = async <Table extends RmaTableName>(
  { lists, fill }: Context,
  table: Table,
  ids: string[],
): Promise<ListedRow<Table>[]> => {
  return (await lists.executeQuery<ListedRow<Table>>(fill(listedById(table), { ids }))).rows;
};
