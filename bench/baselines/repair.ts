import { newId } from '../../src/lib/ids.ts';
import type { RepairBody } from './repair-body.ts';

// A repair as a row and as a response: the service's columns and fields, without its rules.

/** The columns of `offline_repairs` that a baseline reads and writes, in the order it writes them. */
export const REPAIR_COLUMNS = [
  'id',
  'shop_id',
  'receiver_id',
  'number',
  'status',
  'external_ref',
  'external_source',
  'order_number',
  'customer_email',
  'customer_name',
  'customer_phone',
  'faulty_item',
  'fault_description',
  'store_id',
  'replacement_sku',
  'notes',
  'is_dangerous',
  'tracking_number',
  'carrier_name',
  'offline_disposition',
  'assigned_to_id',
  'repair_notes',
  'search_text',
  'created_at',
  'updated_at',
  'status_since',
] as const;
export type RepairRow = Record<(typeof REPAIR_COLUMNS)[number], string | number | null>;

export const newRepair = (shopId: string, body: RepairBody): RepairRow => {
  const now = Date.now();
  const { serialNumber = null, variantTitle = null, weight = null, ...item } = body.faultyItem;
  return {
    id: newId(now),
    shop_id: shopId,
    receiver_id: shopId,
    number: 0,
    status: body.startStatus ?? 'OFFLINE_DIAGNOSTICS',
    external_ref: body.externalRef ?? null,
    external_source: body.externalSource ?? null,
    order_number: body.orderNumber,
    customer_email: body.customerEmail,
    customer_name: body.customerName,
    customer_phone: body.customerPhone ?? null,
    faulty_item: JSON.stringify({ ...item, serialNumber, variantTitle, weight }),
    fault_description: body.faultDescription,
    store_id: body.storeId,
    replacement_sku: body.replacementSku ?? null,
    notes: body.notes ?? null,
    is_dangerous: 0,
    tracking_number: null,
    carrier_name: null,
    offline_disposition: null,
    assigned_to_id: null,
    repair_notes: null,
    search_text: `${body.orderNumber} ${body.customerName} ${body.customerEmail} ${item.sku}`.toLowerCase(),
    created_at: now,
    updated_at: now,
    status_since: now,
  };
};

const numbered = (number: number): string => `#RMA-${String(number).padStart(6, '0')}`;

export const viewOf = (row: RepairRow) => ({
  id: row.id,
  rmaNumber: numbered(row.number as number),
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
  faultyItem: JSON.parse(row.faulty_item as string),
  replacementSku: row.replacement_sku,
  notes: row.notes,
  carrierName: row.carrier_name,
  assignedToId: row.assigned_to_id,
  repairNotes: row.repair_notes,
  statusSince: new Date(row.status_since as number).toISOString(),
  createdAt: new Date(row.created_at as number).toISOString(),
  updatedAt: new Date(row.updated_at as number).toISOString(),
});

/** What the outbox keeps of a creation. */
export const eventOf = (row: RepairRow): string =>
  JSON.stringify({
    event: 'offline_repair.created',
    timestamp: new Date(row.created_at as number).toISOString(),
    data: viewOf(row),
  });

/** What a move wants: the service's table has more of them. */
export const MOVES = {
  'begin-repair': 'OFFLINE_REPAIR',
  'begin-diagnostics': 'OFFLINE_DIAGNOSTICS',
} as const;
export type MoveName = keyof typeof MOVES;

export const MOVE_EVENT = 'offline_repair.status_changed';

/** What the outbox keeps of a move. */
export const moveEventOf = (row: RepairRow, previousStatus: unknown): string =>
  JSON.stringify({
    event: MOVE_EVENT,
    timestamp: new Date(row.updated_at as number).toISOString(),
    data: {
      id: row.id,
      rmaNumber: numbered(row.number as number),
      externalRef: row.external_ref,
      externalSource: row.external_source,
      status: row.status,
      previousStatus,
      assignedToId: row.assigned_to_id,
    },
  });
