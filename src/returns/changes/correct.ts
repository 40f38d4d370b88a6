import { fromStored } from '../../stored-json.ts';
import type { Step } from '../kinds/kind.ts';
import type { ReturnRow } from '../visibility.ts';

/** What may be corrected, and its column. */
const COLUMNS = {
  customerName: 'customer_name',
  customerEmail: 'customer_email',
  customerPhone: 'customer_phone',
  companyName: 'company_name',
  serialNumber: 'serial_number',
} as const;
type Field = keyof typeof COLUMNS;

/** What is undefined stays as it is. */
export type Correction = { [Name in Field]?: string | null | undefined };

type Changes = Record<string, { from: string | null; to: string | null }>;

/** Corrects typing errors. The timeline keeps both values, the audit log only which fields it were. null: nothing is different. */
export const correction = (before: ReturnRow, wanted: Correction): Step | null => {
  const changes: Changes = Object.fromEntries(
    (Object.entries(wanted) as [Field, string | null | undefined][]).flatMap(([field, to]) => {
      const from: string | null = Reflect.get(before, COLUMNS[field]) ?? null;
      return to === undefined || to === from ? [] : [[field, { from, to }]];
    }),
  );
  const corrected = Object.keys(changes);
  if (corrected.length === 0) return null;
  const set = Object.fromEntries(
    Object.entries(changes).map(([field, { to }]) => [COLUMNS[field as Field], to]),
  );
  return {
    set: { ...set, ...itemWith(before, changes) },
    entry: 'CORRECTED',
    note: null,
    data: changes,
    event: null,
    corrected,
  };
};

/** The item holds the serial number too. */
const itemWith = (before: ReturnRow, { serialNumber }: Changes): { faulty_item?: string } =>
  serialNumber && 'faulty_item' in before
    ? {
        faulty_item: JSON.stringify({
          ...fromStored('faulty_item', before.faulty_item),
          serialNumber: serialNumber.to,
        }),
      }
    : {};
