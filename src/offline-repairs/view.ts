import { rmaNumber } from '../../contract/common.ts';
import type { OfflineRepair } from '../../contract/offline-repair.ts';
import type { Row } from '../db/schema.ts';
import { instant } from '../instant.ts';
import { fromStored } from '../stored-json.ts';

export const viewOfflineRepair = (row: Omit<Row<'offline_repairs'>, 'search_text'>): OfflineRepair => ({
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
  faultyItem: fromStored('faulty_item', row.faulty_item),
  replacementSku: row.replacement_sku,
  notes: row.notes,
  carrierName: row.carrier_name,
  assignedToId: row.assigned_to_id,
  repairNotes: row.repair_notes,
  statusSince: instant(row.status_since),
  createdAt: instant(row.created_at),
  updatedAt: instant(row.updated_at),
});
