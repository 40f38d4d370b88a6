import { parseJsonColumn } from '../../lib/json.ts';
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

/** Corrects typing errors. The timeline keeps both values, the audit log only which fields it were. null: nothing is different. */
export const correction = (before: ReturnRow, wanted: Correction): Step | null => {
  const set: Step['set'] = {};
  const data: { [Name in Field]?: { from: string | null; to: string | null } } = {};
  for (const [field, to] of Object.entries(wanted) as [Field, string | null | undefined][]) {
    const from: string | null = Reflect.get(before, COLUMNS[field]) ?? null;
    if (to === undefined || to === from) continue;
    set[COLUMNS[field]] = to;
    data[field] = { from, to };
  }
  const corrected = Object.keys(data);
  if (corrected.length === 0) return null;
  // The item holds the serial number too.
  if (data.serialNumber && 'faulty_item' in before) {
    const item = parseJsonColumn('faulty_item', before.faulty_item);
    set['faulty_item'] = JSON.stringify({ ...item, serialNumber: data.serialNumber.to });
  }
  return { set, entry: 'CORRECTED', note: null, data, event: null, corrected };
};
