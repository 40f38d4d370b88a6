import type { z } from 'zod';
import {
  DEFAULT_START_STATUS,
  OFFLINE_REPAIR_MOVES,
  type OfflineRepairAction,
} from '../../../contract/lifecycle.ts';
import {
  CreateOfflineRepair,
  OfflineRepair,
  OfflineRepairActionBody,
  OfflineRepairList,
  OfflineRepairQuery,
} from '../../../contract/offline-repair.ts';
import type { Event, EventExtra } from '../../events/event.ts';
import { namingRow, parseJsonColumn } from '../../lib/json.ts';
import { itemTexts } from '../search-text.ts';
import type { ReturnRow } from '../store.ts';
import {
  customerOf,
  type Kind,
  leadingFields,
  type MoveTexts,
  type OwnColumns,
  timestampsOf,
} from './kind.ts';

type Repair = ReturnRow<'offline_repairs'>;

type ActionBody<Action extends OfflineRepairAction> = z.infer<(typeof OfflineRepairActionBody)[Action]>;

/** The effect of an action's body. Status, timeline entry and event name are in the table of moves. */
interface Effect<Action extends OfflineRepairAction = OfflineRepairAction> {
  set?: Partial<Repair>;
  note?: string | null;
  data?: object;
  /** The fields of the event besides those of all events. */
  event: EventExtra<(typeof OFFLINE_REPAIR_MOVES)[Action]['event']>;
}

const REPAIR_EFFECTS: {
  [Action in OfflineRepairAction]: (body: ActionBody<Action>, before: Repair) => Effect<Action>;
} = {
  tracking: ({ trackingNumber, carrierName }) => ({
    set: { tracking_number: trackingNumber, carrier_name: carrierName },
    data: { trackingNumber, carrierName },
    event: { trackingNumber, carrierName },
  }),
  'begin-diagnostics': ({ notes }, { status }) => ({ note: notes, event: { previousStatus: status } }),
  // An earlier technician or note stays unless the body has another one.
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

const REPAIR_MOVE_TEXTS: Record<OfflineRepairAction, MoveTexts> = {
  tracking: {
    operationId: 'uploadOfflineRepairTracking',
    summary: 'Lodge return tracking',
    description: 'Sets tracking number and carrier, in place of earlier ones. The status stays as it is.',
  },
  'begin-diagnostics': {
    operationId: 'beginOfflineRepairDiagnostics',
    summary: 'Begin diagnostics',
    description: 'Moves the repair to `OFFLINE_DIAGNOSTICS`, from any status.',
  },
  'begin-repair': {
    operationId: 'beginOfflineRepair',
    summary: 'Begin the repair',
    description:
      'Moves the repair to `OFFLINE_REPAIR`, from any status. A technician or notes given before stay where this call names none.',
  },
  resolve: {
    operationId: 'resolveOfflineRepair',
    summary: 'Set the disposition',
    description:
      'Moves the repair to `OFFLINE_RESOLVED`, from any status, and sets what becomes of the item.',
  },
  close: {
    operationId: 'closeOfflineRepair',
    summary: 'Close the repair',
    description: 'Moves the repair to `OFFLINE_CLOSED`, from any status. Needs no body.',
  },
};

export const OFFLINE_REPAIR: Kind = {
  table: 'offline_repairs',
  api: {
    tag: 'Offline repairs',
    tagTexts: {
      external: 'Items handed in at a counter, a service desk or a partner.',
      admin: "The shop's repairs, from API clients and from staff.",
    },
    names: { id: 'OfflineRepair', one: 'an offline repair', many: 'offline repairs', short: 'repair' },
    create: CreateOfflineRepair,
    clients: { query: OfflineRepairQuery, item: OfflineRepair, list: OfflineRepairList },
    moves: REPAIR_MOVE_TEXTS,
    moveBodies: OfflineRepairActionBody,
    refusedMoves: [],
    clientMoves: { right: 'write' },
    describe: {
      create:
        'For an item handed in at a counter, a service desk or a partner. Counts toward the monthly allowance. Send an `Idempotency-Key` and a retry after a lost response creates nothing twice.',
      related: 'List earlier repairs of the item and returns of the customer',
    },
  },
  // These are 6 MB at most.
  maxFullRows: 100,
  searched: {
    order: 'order_number',
    serial: 'serial_number',
    tracking: 'tracking_number',
    about: 'faulty_item',
    aboutIn: (item) => parseJsonColumn('faulty_item', item).productName,
  },
  skuOf: ({ faultyItem }: CreateOfflineRepair) => faultyItem.sku,
  create: (body: CreateOfflineRepair, isDangerous) => ({
    columns: {
      status: body.startStatus ?? DEFAULT_START_STATUS,
      order_number: body.orderNumber,
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
  move(before: Repair, action, body) {
    const { to, entry, event: name } = OFFLINE_REPAIR_MOVES[action as OfflineRepairAction];
    const effectOf = REPAIR_EFFECTS[action as OfflineRepairAction] as (
      body: object,
      before: Repair,
    ) => Effect;
    const { set, note = null, data = {}, event } = effectOf(body, before);
    return {
      set: { ...set, ...(to === null ? {} : { status: to }) },
      entry,
      note,
      data,
      event: () => ({ name, data: event }) as Event,
    };
  },
  searchedIn: (row: Repair) => [
    row.order_number,
    ...itemTexts(row.faulty_item),
    row.serial_number,
    row.tracking_number,
  ],
  view: namingRow(
    (row: Repair): OfflineRepair => ({
      ...leadingFields(row),
      orderNumber: row.order_number,
      ...customerOf(row),
      faultDescription: row.fault_description,
      offlineDisposition: row.offline_disposition,
      isDangerous: row.is_dangerous === 1,
      trackingNumber: row.tracking_number,
      storeId: row.store_id,
      faultyItem: parseJsonColumn('faulty_item', row.faulty_item),
      replacementSku: row.replacement_sku,
      notes: row.notes,
      carrierName: row.carrier_name,
      assignedToId: row.assigned_to_id,
      repairNotes: row.repair_notes,
      ...timestampsOf(row),
    }),
  ),
};
