import type { RmaEventName } from '../../../contract/event-feed.ts';
import type { OfflineRepairAction, TimelineType, TradeReturnAction } from '../../../contract/lifecycle.ts';
import type { CreateOfflineRepair, OfflineRepair } from '../../../contract/offline-repair.ts';
import type { CreateTradeReturn, TradeReturn } from '../../../contract/trade-return.ts';
import type { Tables } from '../../db/schema.ts';
import type { Event } from '../../events/event.ts';
import { parseJsonColumn } from '../../lib/json.ts';
import type { Caller } from '../../shops/plans.ts';
import type { Equal, RmaFilters } from '../list.ts';
import type { ReturnRow, RmaTableName } from '../store.ts';

/** The columns that both kinds fill in the same way when an RMA is created. */
export const commonColumns = (
  { shop, actor }: Caller,
  id: string,
  { externalRef, externalSource }: CreateBody,
  number: number,
  at: number,
) => ({
  id,
  shop_id: shop.id,
  client_id: actor.type === 'API_CLIENT' ? actor.id : null,
  number,
  external_ref: externalRef,
  external_source: externalSource,
  created_at: at,
  updated_at: at,
  status_since: at,
  assignee_id: null,
  erased_at: null,
});

export type OwnColumns<Table extends RmaTableName> = Omit<
  ReturnRow<Table>,
  keyof ReturnType<typeof commonColumns>
>;

export const MUTABLE_IN_BOTH = [
  'status',
  'updated_at',
  'status_since',
  'assignee_id',
  'customer_email',
  'customer_name',
  'customer_phone',
  'search_text',
] as const;

/** What a change does to an RMA, computed from its present row. */
export interface Step {
  set: { status?: string; assignee_id?: string | null; [column: string]: unknown };
  entry: TimelineType;
  note: string | null;
  data: object;
  /** Of the RMA as the change leaves it; null: there is none. */
  event: ((after: ReturnRow) => Event) | null;
  /** The fields that a correction changed, for the audit log. */
  corrected?: string[];
}

export type Action = OfflineRepairAction | TradeReturnAction;
export type CreateBody = CreateOfflineRepair | CreateTradeReturn;

export type ReturnView = OfflineRepair | TradeReturn;

/** All that differs between the two kinds of RMA when one is created, changed or shown. Each kind takes bodies and rows of its own. */
export interface Kind {
  table: RmaTableName;
  /** The collection's path: the same idempotency key on the other kind is another request. */
  path: string;
  /** What may change after the creation. */
  mutable: readonly (keyof Tables['offline_repairs'] | keyof Tables['trade_returns'])[];
  /** `OwnColumns`, and what the timeline entry holds. */
  create(body: CreateBody, isDangerous: boolean): { columns: object } & Pick<Step, 'note' | 'data'>;
  /** The events that hold the whole RMA. */
  events: { created: RmaEventName; updated: RmaEventName };
  skuOf(body: CreateBody): string | null;
  /** Refuses a move that is not allowed from the present status; null: nothing is different. */
  move(before: ReturnRow, action: Action, body: object): Step | null;
  view(row: ReturnRow): ReturnView;
  equal(query: RmaFilters): Equal;
  /** What staff search in, beside the number and the customer. */
  searchedIn(row: ReturnRow): (string | null)[];
}

const CORRECTED_COLUMNS = {
  customerName: 'customer_name',
  customerEmail: 'customer_email',
  customerPhone: 'customer_phone',
  companyName: 'company_name',
  serialNumber: 'serial_number',
} as const;
type Field = keyof typeof CORRECTED_COLUMNS;

/** What is undefined stays as it is. */
export type Correction = { [Name in Field]?: string | null | undefined };

/** Tells programs that keep a copy of a change that is no move. */
export const updatedEvent =
  ({ events, view }: Kind): Step['event'] =>
  (after) =>
    wholeEvent(events.updated, view(after));

export const wholeEvent = (name: RmaEventName, data: ReturnView): Event => ({ name, data }) as Event;

/** Corrects typing errors. The timeline keeps both values, the audit log only which fields it were. null: nothing is different. */
export const correction = (kind: Kind, before: ReturnRow, wanted: Correction): Step | null => {
  const set: Step['set'] = {};
  const data: { [Name in Field]?: { from: string | null; to: string | null } } = {};
  for (const [field, to] of Object.entries(wanted) as [Field, string | null | undefined][]) {
    const from: string | null = Reflect.get(before, CORRECTED_COLUMNS[field]) ?? null;
    if (to === undefined || to === from) continue;
    set[CORRECTED_COLUMNS[field]] = to;
    data[field] = { from, to };
  }
  const corrected = Object.keys(data);
  if (corrected.length === 0) return null;
  // The item holds the serial number too.
  if (data.serialNumber && 'faulty_item' in before) {
    const item = parseJsonColumn('faulty_item', before.faulty_item);
    set['faulty_item'] = JSON.stringify({ ...item, serialNumber: data.serialNumber.to });
  }
  return { set, entry: 'CORRECTED', note: null, data, event: updatedEvent(kind), corrected };
};
