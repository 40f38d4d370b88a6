import type { Updateable } from 'kysely';
import { rmaNumber } from '../../contract/common.ts';
import { auditWrite } from '../audit/store.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import type { Tables } from '../db/schema.ts';
import { fromStored } from '../stored-json.ts';
import { changeRma } from './change.ts';
import { type Searched, searchTextOf } from './search-text.ts';
import { seenAt } from './seen.ts';
import type { RmaRow, RmaTableName } from './visibility.ts';

/** What may be corrected, and where it is kept. */
const COLUMNS = {
  customerName: 'customer_name',
  customerEmail: 'customer_email',
  customerPhone: 'customer_phone',
  companyName: 'company_name',
  serialNumber: 'serial_number',
} as const;
type Field = keyof typeof COLUMNS;

/** What is undefined stays as it is. */
export type Correction = { [Name in Field]?: string | null | undefined } & { seen?: number | undefined };

/** Corrects typing errors. The timeline keeps both values, the audit log only which fields it were. Fires no event. */
export const correctRma = <Table extends RmaTableName>(
  ctx: Context,
  caller: Caller,
  table: Table,
  id: string,
  { seen, ...wanted }: Correction,
): Promise<RmaRow<Table>> =>
  changeRma(
    ctx,
    caller,
    table,
    id,
    (before) => {
      const changes = changesOf(before, wanted);
      const fields = Object.keys(changes);
      if (fields.length === 0) return null;
      return {
        set: columnsFor(before as object as Searched, changes) as Updateable<Tables[Table]>,
        entry: 'CORRECTED',
        data: changes,
        alongside: (at) => [
          auditWrite({
            shopId: caller.shop.id,
            at,
            actor: caller.actor,
            action: 'RETURN_CORRECTED',
            subject: { type: 'RETURN', id, name: rmaNumber(before.number) },
            data: { fields },
          }),
        ],
      };
    },
    seenAt(seen, ['CORRECTED']),
  );

type Changes = Record<string, { from: string | null; to: string | null }>;

const changesOf = (before: object, wanted: Omit<Correction, 'seen'>): Changes =>
  Object.fromEntries(
    (Object.entries(wanted) as [Field, string | null | undefined][]).flatMap(([field, to]) => {
      const from = (before as Record<string, string | null>)[COLUMNS[field]] ?? null;
      return to === undefined || to === from ? [] : [[field, { from, to }]];
    }),
  );

/** The columns that follow from the correction: also the item that holds the serial number, and what staff search in. */
const columnsFor = (before: Searched, changes: Changes): object => {
  const set: Record<string, string | null> = Object.fromEntries(
    Object.entries(changes).map(([field, { to }]) => [COLUMNS[field as Field], to]),
  );
  if ('faulty_item' in before && changes['serialNumber']) {
    const item = fromStored('faulty_item', before.faulty_item);
    set['faulty_item'] = JSON.stringify({ ...item, serialNumber: changes['serialNumber'].to });
  }
  return { ...set, search_text: searchTextOf({ ...before, ...set }) };
};
