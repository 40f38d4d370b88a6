import { rmaNumber } from '../../contract/common.ts';
import type { TradeReturn } from '../../contract/trade-return.ts';
import type { Row } from '../db/schema.ts';
import { instant } from '../instant.ts';
import { fromStored } from '../stored-json.ts';

export const viewTradeReturn = (row: Omit<Row<'trade_returns'>, 'search_text'>): TradeReturn => ({
  id: row.id,
  rmaNumber: rmaNumber(row.number),
  status: row.status,
  externalRef: row.external_ref,
  externalSource: row.external_source,
  tradeOrderNumber: row.trade_order_number,
  customerEmail: row.customer_email,
  customerName: row.customer_name,
  customerPhone: row.customer_phone,
  companyName: row.company_name,
  companyId: row.company_id,
  reason: row.reason,
  items: fromStored('items', row.items),
  shippingAddress: fromStored('shipping_address', row.shipping_address),
  orderDate: row.order_date,
  customerNotes: row.customer_notes,
  faultDescription: row.fault_description,
  additionalComment: row.additional_comment,
  statusSince: instant(row.status_since),
  createdAt: instant(row.created_at),
  updatedAt: instant(row.updated_at),
});
