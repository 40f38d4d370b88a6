import type { Updateable } from 'kysely';
import type { z } from 'zod';
import type {
  AdminOfflineRepair,
  CorrectOfflineRepair,
  RelatedReturns,
} from '../../contract/admin-returns.ts';
import type { Page } from '../../contract/common.ts';
import {
  DEFAULT_START_STATUS,
  MOVE_ENTRIES,
  OFFLINE_REPAIR_MOVES,
  type OfflineRepairAction,
} from '../../contract/lifecycle.ts';
import type {
  CreateOfflineRepair,
  OfflineRepair,
  OfflineRepairActionBody,
  OfflineRepairQuery,
} from '../../contract/offline-repair.ts';
import type { DryRun } from '../../contract/usage.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import type { Row, Tables } from '../db/schema.ts';
import type { Event, EventExtra } from '../events/event.ts';
import { addNote, changeRma } from '../rma/change.ts';
import { correctRma } from '../rma/correct.ts';
import type { CreateRequest } from '../rma/creation/creation.ts';
import { tryCreation } from '../rma/creation/dry-run.ts';
import { createRma } from '../rma/creation/queue.ts';
import type { Created } from '../rma/idempotency.ts';
import { listRmas } from '../rma/list.ts';
import type { RmaFilters } from '../rma/list-query.ts';
import { assignRma } from '../rma/people.ts';
import { findRelated } from '../rma/related.ts';
import { searchTextOf } from '../rma/search-text.ts';
import { seenAt } from '../rma/seen.ts';
import { viewChanged, viewFor, viewForStaff } from '../rma/staff-view.ts';
import { type Ahead, findRma } from '../rma/store.ts';
import { readTimeline } from '../rma/timeline.ts';
import { viewOfflineRepair } from './view.ts';

const TABLE = 'offline_repairs';
type Repair = Row<'offline_repairs'>;

const requestOf = (body: CreateOfflineRepair, key: string | undefined): CreateRequest<OfflineRepair> => ({
  kind: TABLE,
  path: 'offline-repairs',
  body,
  key,
  sku: body.faultyItem.sku,
  make(rma, isDangerous) {
    const { faultyItem, tracking } = body;
    const made: Omit<Repair, 'search_text'> = {
      ...rma,
      status: body.startStatus ?? DEFAULT_START_STATUS,
      order_number: body.orderNumber,
      customer_email: body.customerEmail,
      customer_name: body.customerName,
      customer_phone: body.customerPhone,
      faulty_item: JSON.stringify(faultyItem),
      serial_number: faultyItem.serialNumber,
      fault_description: body.faultDescription,
      store_id: body.storeId,
      replacement_sku: body.replacementSku,
      notes: body.notes,
      is_dangerous: isDangerous ? 1 : 0,
      tracking_number: tracking?.trackingNumber ?? null,
      carrier_name: tracking?.carrierName ?? null,
      offline_disposition: null,
      assigned_to_id: null,
      repair_notes: null,
    };
    const row: Repair = { ...made, search_text: searchTextOf(made) };
    const answer = viewOfflineRepair(row);
    const event = { name: 'offline_repair.created', data: answer } as const;
    return { row, answer, event, note: body.notes, data: { ...tracking } };
  },
});

export const createOfflineRepair = (
  ctx: Context,
  caller: Caller,
  body: CreateOfflineRepair,
  key?: string,
): Promise<Created<OfflineRepair>> => createRma(ctx, caller, requestOf(body, key));

export const tryOfflineRepair = (
  ctx: Context,
  caller: Caller,
  body: CreateOfflineRepair,
  key?: string,
): Promise<DryRun> => tryCreation(ctx, caller, requestOf(body, key));

export const getOfflineRepair = async (
  ctx: Context,
  caller: Caller,
  id: string,
  ahead?: Ahead<'offline_repairs'>,
): Promise<OfflineRepair> => {
  const [row, view] = await Promise.all([
    findRma(ctx, TABLE, caller, id, ahead),
    viewFor(ctx, caller, viewOfflineRepair),
  ]);
  return view(row);
};

interface StaffFilters extends RmaFilters {
  isDangerous?: boolean | undefined;
  disposition?: string | undefined;
}

export const listOfflineRepairs = async (
  ctx: Context,
  caller: Caller,
  query: OfflineRepairQuery & StaffFilters,
) =>
  listRmas(
    ctx,
    TABLE,
    caller,
    query,
    {
      number: query.rmaNumber,
      status: query.status,
      external_ref: query.externalRef,
      external_source: query.externalSource,
      order_number: query.orderNumber,
      store_id: query.storeId,
      serial_number: query.serialNumber,
      offline_disposition: query.disposition,
      is_dangerous: query.isDangerous === undefined ? undefined : Number(query.isDangerous),
    },
    await viewFor(ctx, caller, viewOfflineRepair),
  );

export const getOfflineRepairTimeline = (ctx: Context, caller: Caller, id: string, page: Page) =>
  readTimeline(ctx, TABLE, caller, id, page);

export const noteOfflineRepair = (
  ctx: Context,
  caller: Caller,
  id: string,
  note: string,
): Promise<AdminOfflineRepair> =>
  viewChanged(viewForStaff(ctx, caller, viewOfflineRepair), () => addNote(ctx, caller, TABLE, id, note));

export const assignOfflineRepair = (
  ctx: Context,
  caller: Caller,
  id: string,
  assigneeId: string | null,
): Promise<AdminOfflineRepair> =>
  viewChanged(viewForStaff(ctx, caller, viewOfflineRepair), () =>
    assignRma(ctx, caller, TABLE, id, assigneeId),
  );

export const correctOfflineRepair = (
  ctx: Context,
  caller: Caller,
  id: string,
  body: CorrectOfflineRepair,
): Promise<AdminOfflineRepair> =>
  viewChanged(viewForStaff(ctx, caller, viewOfflineRepair), () => correctRma(ctx, caller, TABLE, id, body));

export const relatedToOfflineRepair = (ctx: Context, caller: Caller, id: string): Promise<RelatedReturns> =>
  findRelated(ctx, TABLE, caller, id);

export type ActionBody<Action extends OfflineRepairAction> = z.infer<
  (typeof OfflineRepairActionBody)[Action]
>;

type EventOf<Action extends OfflineRepairAction> = (typeof OFFLINE_REPAIR_MOVES)[Action]['event'];

interface Effect<Action extends OfflineRepairAction> {
  set?: Updateable<Tables['offline_repairs']>;
  /** One of the fields that people search by. */
  isSearched?: true;
  /** What the timeline keeps. */
  note?: string | null;
  data?: Record<string, unknown>;
  /** What the event tells beyond what all events do. */
  tells(before: Repair, after: Repair): EventExtra<EventOf<Action>>;
}

/** What each action's body changes and tells; status, timeline entry and event are in the table of moves. */
const EFFECTS: { [Action in OfflineRepairAction]: (body: ActionBody<Action>) => Effect<Action> } = {
  tracking: ({ trackingNumber, carrierName }) => ({
    set: { tracking_number: trackingNumber, carrier_name: carrierName },
    isSearched: true,
    data: { trackingNumber, carrierName },
    tells: () => ({ trackingNumber, carrierName }),
  }),
  'begin-diagnostics': ({ notes }) => ({
    note: notes,
    tells: (before) => ({ previousStatus: before.status }),
  }),
  // A technician or a note given earlier stays until another one is named.
  'begin-repair': ({ repairNotes, assignedToId }) => ({
    set: {
      ...(repairNotes === null ? {} : { repair_notes: repairNotes }),
      ...(assignedToId === null ? {} : { assigned_to_id: assignedToId }),
    },
    note: repairNotes,
    data: assignedToId === null ? {} : { assignedToId },
    tells: (before, after) => ({ previousStatus: before.status, assignedToId: after.assigned_to_id }),
  }),
  resolve: ({ offlineDisposition, notes }) => ({
    set: { offline_disposition: offlineDisposition },
    note: notes,
    data: { offlineDisposition },
    tells: (before) => ({ offlineDisposition, previousStatus: before.status }),
  }),
  close: () => ({
    tells: (before, after) => ({
      previousStatus: before.status,
      offlineDisposition: after.offline_disposition,
    }),
  }),
};

export const moveOfflineRepair = <Action extends OfflineRepairAction>(
  ctx: Context,
  caller: Caller,
  id: string,
  action: Action,
  body: ActionBody<Action>,
  seen?: number,
): Promise<OfflineRepair> => {
  const { to, entry, event } = OFFLINE_REPAIR_MOVES[action];
  const { set, isSearched, note, data, tells } = EFFECTS[action](body);
  const change = (present: Repair) => ({
    set: {
      ...set,
      ...(isSearched ? { search_text: searchTextOf({ ...present, ...set }) } : {}),
      ...(to === null ? {} : { status: to }),
    },
    entry,
    ...(note === undefined ? {} : { note }),
    ...(data === undefined ? {} : { data }),
    event: (before: Repair, now: Repair) => ({ name: event, data: tells(before, now) }) as Event,
  });
  return viewChanged(viewFor(ctx, caller, viewOfflineRepair), () =>
    changeRma(ctx, caller, TABLE, id, change, seenAt(seen, MOVE_ENTRIES)),
  );
};
