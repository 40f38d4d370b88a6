import type { z } from 'zod';
import type {
  CorrectOfflineRepair,
  CorrectTradeReturn,
  MoveQuery,
  RmaFilters,
} from '../../../contract/admin-returns.ts';
import { type Right, rmaNumber } from '../../../contract/common.ts';
import type { RmaEventName } from '../../../contract/event-feed.ts';
import { RETURN_KINDS, type ReturnTable } from '../../../contract/kinds.ts';
import type { ReturnAction } from '../../../contract/lifecycle.ts';
import type { CreateOfflineRepair } from '../../../contract/offline-repair.ts';
import type { ReturnView } from '../../../contract/webhook-event.ts';
import type { Event } from '../../events/event.ts';
import { parseJsonColumn } from '../../lib/json.ts';
import { isoOrNull, toIso } from '../../lib/time.ts';
import type { ErrorCode } from '../../platform/errors.ts';
import type { Caller } from '../../shops/plans.ts';
import type { ReturnRow } from '../store.ts';
import { NOT_WAITING, viewWaiting } from '../waiting.ts';
import type { ChangePlan } from './change-plan.ts';

/** The columns that all kinds fill in the same way when a return is created. */
export const commonColumns = (
  { shop, receiverId }: Caller,
  id: string,
  body: CreateBody,
  number: number,
  at: number,
) => ({
  id,
  shop_id: shop.id,
  receiver_id: receiverId ?? null,
  number,
  external_ref: body.externalRef,
  external_source: body.externalSource,
  customer_email: body.customerEmail,
  customer_name: body.customerName,
  customer_phone: body.customerPhone,
  created_at: at,
  updated_at: at,
  status_since: at,
  assignee_id: null,
  erased_at: null,
  ...NOT_WAITING,
  due_from: null,
});

/** Fields that all kinds show in the same way: the first ones, in the order of the specification, then the customer, then the last ones. */
export const leadingFields = <Row extends ReturnRow>(row: Row) => ({
  id: row.id,
  rmaNumber: rmaNumber(row.number),
  status: row.status as Row['status'],
  externalRef: row.external_ref,
  externalSource: row.external_source,
});
export const customerOf = (row: ReturnRow) => ({
  customerEmail: row.customer_email,
  customerName: row.customer_name,
  customerPhone: row.customer_phone,
});
export const timestampsOf = (row: ReturnRow) => ({
  waitingFor: viewWaiting(row),
  statusSince: toIso(row.status_since),
  createdAt: toIso(row.created_at),
  updatedAt: toIso(row.updated_at),
  erasedAt: isoOrNull(row.erased_at),
});

export type OwnColumns<Table extends ReturnTable> = Omit<
  ReturnRow<Table>,
  keyof ReturnType<typeof commonColumns>
>;

/** The fields that every creation has. Each kind has more. */
export type CreateBody = Pick<
  CreateOfflineRepair,
  'externalRef' | 'externalSource' | 'customerEmail' | 'customerName' | 'customerPhone'
>;

export type MoveTexts = Record<'operationId' | 'summary' | 'description', string>;

/** The query and response schemas for API clients, or for staff. */
export interface Audience {
  query: z.ZodType<RmaFilters>;
  item: z.ZodType;
  list: z.ZodType;
}

/** The texts and schemas of a kind's routes. Those for staff are in contract/admin-returns.ts. */
export interface KindApi {
  tag: string;
  /** The descriptions of the tag in the two OpenAPI documents. */
  tagTexts: { external: string; admin: string };
  /** The kind's names in operation ids and texts. */
  names: { id: string; one: string; many: string; short: string };
  create: z.ZodType<CreateBody>;
  clients: Audience;
  moves: { [Name in ReturnAction]?: MoveTexts };
  moveBodies: { [Name in ReturnAction]?: z.ZodType<object> };
  /** The errors of a move that a status does not allow. */
  refusedMoves: readonly ErrorCode[];
  /** The right that API clients need for moves, and whether they may send `seen`. */
  clientMoves: { right: Right; query?: typeof MoveQuery };
  describe: { create: string; related: string };
}

/** What differs between the kinds when a return is created, changed or shown. Each kind has its own bodies and rows. */
export interface Kind {
  table: ReturnTable;
  api: KindApi;
  /** Returns the kind's own columns, and the note and data of the timeline entry. */
  create(body: CreateBody, isDangerous: boolean): { columns: object } & Pick<ChangePlan, 'note' | 'data'>;
  /** A page of a list with this limit or a lower one reads full rows. */
  maxFullRows: number;
  searched: {
    order: string;
    serial?: string;
    tracking?: string;
    /** The title column of a return: the product of a repair, the company of a trade return. */
    about: string;
    /** Throws if the column cannot be read. */
    aboutIn(value: string): string;
  };
  skuOf(body: CreateBody): string | null;
  /** Throws if the current status does not allow the move. Returns null if nothing would change. */
  move(before: ReturnRow, action: ReturnAction, body: object): ChangePlan | null;
  view(row: ReturnRow): ReturnView;
  /** The texts that staff can search, besides the number and the customer. */
  searchedIn(row: ReturnRow): (string | null)[];
}

export type Correction = Partial<Omit<CorrectOfflineRepair & CorrectTradeReturn, 'seen'>>;

/** Turns `customerName` into `customer_name`. */
const columnOf = (field: string): string =>
  field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The event that reports a change other than a move, for API clients that keep a copy. */
export const updatedEvent =
  ({ table, view }: Kind): ChangePlan['event'] =>
  (after) =>
    fullEvent(`${RETURN_KINDS[table].event}.updated`, view(after));

export const fullEvent = (name: RmaEventName, data: ReturnView): Event => ({ name, data }) as Event;

/** Corrects fields. The timeline stores both values, the audit log only the names of the fields. Returns null if nothing would change. */
export const correction = (kind: Kind, before: ReturnRow, wanted: Correction): ChangePlan | null => {
  const set: ChangePlan['set'] = {};
  const data: { [Field in keyof Correction]: { from: string | null; to: string | null } } = {};
  for (const [field, to] of Object.entries(wanted)) {
    const from: string | null = Reflect.get(before, columnOf(field)) ?? null;
    if (to === undefined || to === from) continue;
    set[columnOf(field)] = to;
    data[field as keyof Correction] = { from, to };
  }
  if (Object.keys(data).length === 0) return null;
  // The item contains the serial number, too.
  if (data.serialNumber && 'faulty_item' in before) {
    const item = parseJsonColumn('faulty_item', before.faulty_item);
    set['faulty_item'] = JSON.stringify({ ...item, serialNumber: data.serialNumber.to });
  }
  return { set, entry: 'CORRECTED', note: null, data, event: updatedEvent(kind) };
};
