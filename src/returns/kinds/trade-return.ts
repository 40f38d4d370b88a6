import { rmaNumber } from '../../../contract/common.ts';
import {
  openTradeMoves,
  TRADE_RETURN_MOVES,
  TRADE_RETURN_START,
  type TradeReturnAction,
} from '../../../contract/lifecycle.ts';
import type { CreateTradeReturn, TradeReturn, TradeReturnQuery } from '../../../contract/trade-return.ts';
import type { Event } from '../../events/event.ts';
import { exactNumber, parseJsonColumn } from '../../lib/json.ts';
import { toIso } from '../../lib/time.ts';
import { ServiceError } from '../../service/errors.ts';
import type { RmaFilters } from '../list.ts';
import { itemTexts } from '../search.ts';
import type { ReturnRow } from '../store.ts';
import { type Kind, MUTABLE_IN_BOTH, type OwnColumns } from './kind.ts';

type Return = ReturnRow<'trade_returns'>;

/** Prices and quantities have at most four decimals, so a product has at most eight. */
const DECIMALS = 4;

const tenThousandths = (value: number): bigint => BigInt(value.toFixed(DECIMALS).replace('.', ''));

/** The sum of price × quantity in plain decimal digits, with no binary rounding anywhere. */
export const creditAmount = (items: Pick<TradeReturn['items'][number], 'price' | 'quantity'>[]): string => {
  const sum = items.reduce(
    (total, { price, quantity }) => total + tenThousandths(price) * tenThousandths(quantity),
    0n,
  );
  const digits = sum.toString().padStart(2 * DECIMALS + 1, '0');
  const whole = digits.slice(0, -2 * DECIMALS);
  const fraction = digits.slice(-2 * DECIMALS).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
};

const moveNotAllowed = (action: TradeReturnAction, status: Return['status']): ServiceError => {
  const open = openTradeMoves(status);
  const rest = open.length > 0 ? `open now: ${open.join(', ')}` : 'no move is open any more';
  return new ServiceError('MOVE_NOT_ALLOWED', {
    message: `The return is ${status}, so ${action} is not open; ${rest}.`,
  });
};

export const TRADE_RETURN: Kind = {
  table: 'trade_returns',
  path: 'trade-returns',
  mutable: [...MUTABLE_IN_BOTH, 'company_name'],
  equal: (query: TradeReturnQuery & RmaFilters) => ({
    number: query.rmaNumber,
    status: query.status,
    external_ref: query.externalRef,
    external_source: query.externalSource,
    trade_order_number: query.tradeOrderNumber,
    company_id: query.companyId,
    customer_email: query.customerEmail,
  }),
  skuOf: () => null,
  create: (body: CreateTradeReturn) => ({
    columns: {
      status: TRADE_RETURN_START,
      trade_order_number: body.tradeOrderNumber,
      customer_email: body.customerEmail,
      customer_name: body.customerName,
      customer_phone: body.customerPhone,
      company_name: body.companyName,
      company_id: body.companyId,
      reason: body.reason,
      items: JSON.stringify(body.items),
      shipping_address: JSON.stringify(body.shippingAddress),
      order_date: body.orderDate,
      customer_notes: body.customerNotes,
      fault_description: body.faultDescription,
      additional_comment: body.additionalComment,
    } satisfies OwnColumns<'trade_returns'>,
    note: null,
    data: {},
  }),
  createdEvent: (data: TradeReturn) => ({ name: 'trade_return.created', data }),
  move({ status, items }: Return, action, body) {
    const { from, to, entry, event: name } = TRADE_RETURN_MOVES[action as TradeReturnAction];
    if (!(from as readonly string[]).includes(status))
      throw moveNotAllowed(action as TradeReturnAction, status);
    const credit =
      name === 'trade_return.credit_requested'
        ? { creditAmount: exactNumber(creditAmount(parseJsonColumn('items', items))) }
        : {};
    return {
      set: { status: to },
      entry,
      note: (body as { note: string | null }).note,
      data: {},
      event: { name, data: { previousStatus: status, ...credit } } as Event,
    };
  },
  searchedIn: (row: Return) => [
    row.trade_order_number,
    row.company_name,
    row.company_id,
    ...itemTexts(row.items),
  ],
  view: (row: Return): TradeReturn => ({
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
    items: parseJsonColumn('items', row.items),
    shippingAddress: parseJsonColumn('shipping_address', row.shipping_address),
    orderDate: row.order_date,
    customerNotes: row.customer_notes,
    faultDescription: row.fault_description,
    additionalComment: row.additional_comment,
    statusSince: toIso(row.status_since),
    createdAt: toIso(row.created_at),
    updatedAt: toIso(row.updated_at),
  }),
};
