import type { z } from 'zod';
import { rmaNumber } from '../../../contract/common.ts';
import {
  DEFAULT_START_STATUS,
  OFFLINE_REPAIR_MOVES,
  type OfflineRepairAction,
} from '../../../contract/lifecycle.ts';
import type {
  CreateOfflineRepair,
  OfflineRepair,
  OfflineRepairActionBody,
  OfflineRepairQuery,
} from '../../../contract/offline-repair.ts';
import type { Event, EventExtra } from '../../events/event.ts';
import { parseJsonColumn } from '../../lib/json.ts';
import { toIso } from '../../lib/time.ts';
import type { RmaFilters } from '../list.ts';
import { itemTexts } from '../search.ts';
import type { ReturnRow } from '../store.ts';
import { type Kind, MUTABLE_IN_BOTH, type OwnColumns } from './kind.ts';

type Repair = ReturnRow<'offline_repairs'>;

type ActionBody<Action extends OfflineRepairAction> = z.infer<(typeof OfflineRepairActionBody)[Action]>;

/** What an action's body changes; status, timeline entry and event name are in the table of moves. */
interface Effect<Action extends OfflineRepairAction = OfflineRepairAction> {
  set?: Partial<Repair>;
  note?: string | null;
  data?: object;
  /** What the event holds beyond what all events do. */
  event: EventExtra<(typeof OFFLINE_REPAIR_MOVES)[Action]['event']>;
}

const EFFECTS: {
  [Action in OfflineRepairAction]: (body: ActionBody<Action>, before: Repair) => Effect<Action>;
} = {
  tracking: ({ trackingNumber, carrierName }) => ({
    set: { tracking_number: trackingNumber, carrier_name: carrierName },
    data: { trackingNumber, carrierName },
    event: { trackingNumber, carrierName },
  }),
  'begin-diagnostics': ({ notes }, { status }) => ({ note: notes, event: { previousStatus: status } }),
  // A technician or a note given earlier stays until another one is named.
  'begin-repair': ({ repairNotes, assignedToId }, { status, assigned_to_id }) => ({
    set: {
      ...(repairNotes === null ? {} : { repair_notes: repairNotes }),
      ...(assignedToId === null ? {} : { assigned_to_id: assignedToId }),
    },
    note: repairNotes,
    data: assignedToId === null ? {} : { assignedToId },
    event: { previousStatus: status, assignedToId: assignedToId ?? assigned_to_id },
  }),
  resolve: ({ offlineDisposition, notes }, { status }) => ({
    set: { offline_disposition: offlineDisposition },
    note: notes,
    data: { offlineDisposition },
    event: { offlineDisposition, previousStatus: status },
  }),
  close: (_body, { status, offline_disposition }) => ({
    event: { previousStatus: status, offlineDisposition: offline_disposition },
  }),
};

type RepairFilters = OfflineRepairQuery &
  RmaFilters & { isDangerous?: boolean | undefined; disposition?: string | undefined };

export const OFFLINE_REPAIR: Kind = {
  table: 'offline_repairs',
  path: 'offline-repairs',
  mutable: [
    ...MUTABLE_IN_BOTH,
    'faulty_item',
    'serial_number',
    'tracking_number',
    'carrier_name',
    'offline_disposition',
    'assigned_to_id',
    'repair_notes',
  ],
  skuOf: ({ faultyItem }: CreateOfflineRepair) => faultyItem.sku,
  create: (body: CreateOfflineRepair, isDangerous) => ({
    columns: {
      status: body.startStatus ?? DEFAULT_START_STATUS,
      order_number: body.orderNumber,
      customer_email: body.customerEmail,
      customer_name: body.customerName,
      customer_phone: body.customerPhone,
      faulty_item: JSON.stringify(body.faultyItem),
      serial_number: body.faultyItem.serialNumber,
      fault_description: body.faultDescription,
      store_id: body.storeId,
      replacement_sku: body.replacementSku,
      notes: body.notes,
      is_dangerous: isDangerous ? 1 : 0,
      tracking_number: body.tracking?.trackingNumber ?? null,
      carrier_name: body.tracking?.carrierName ?? null,
      offline_disposition: null,
      assigned_to_id: null,
      repair_notes: null,
    } satisfies OwnColumns<'offline_repairs'>,
    note: body.notes,
    data: { ...body.tracking },
  }),
  events: { created: 'offline_repair.created', updated: 'offline_repair.updated' },
  move(before: Repair, action, body) {
    const { to, entry, event: name } = OFFLINE_REPAIR_MOVES[action as OfflineRepairAction];
    const effectOf = EFFECTS[action as OfflineRepairAction] as (body: object, before: Repair) => Effect;
    const { set, note = null, data = {}, event } = effectOf(body, before);
    return {
      set: { ...set, ...(to === null ? {} : { status: to }) },
      entry,
      note,
      data,
      event: () => ({ name, data: event }) as Event,
    };
  },
  equal: (query: RepairFilters) => ({
    number: query.rmaNumber,
    status: query.status,
    external_ref: query.externalRef,
    external_source: query.externalSource,
    order_number: query.orderNumber,
    store_id: query.storeId,
    serial_number: query.serialNumber,
    offline_disposition: query.disposition,
    is_dangerous: query.isDangerous === undefined ? undefined : Number(query.isDangerous),
  }),
  searchedIn: (row: Repair) => [
    row.order_number,
    ...itemTexts(row.faulty_item),
    row.serial_number,
    row.tracking_number,
  ],
  view: (row: Repair): OfflineRepair => ({
    id: row.id,
    rmaNumber: rmaNumber(row.number),
    status: row.status,
    externalRef: row.external_ref,
    externalSource: row.external_source,
    orderNumber: row.order_number,
    customerEmail: row.customer_email,
    customerName: row.customer_name,
    faultDescription: row.fault_description,
    offlineDisposition: row.offline_disposition,
    isDangerous: row.is_dangerous === 1,
    trackingNumber: row.tracking_number,
    storeId: row.store_id,
    customerPhone: row.customer_phone,
    faultyItem: parseJsonColumn('faulty_item', row.faulty_item),
    replacementSku: row.replacement_sku,
    notes: row.notes,
    carrierName: row.carrier_name,
    assignedToId: row.assigned_to_id,
    repairNotes: row.repair_notes,
    statusSince: toIso(row.status_since),
    createdAt: toIso(row.created_at),
    updatedAt: toIso(row.updated_at),
    erasedAt: row.erased_at === null ? null : toIso(row.erased_at),
  }),
};
