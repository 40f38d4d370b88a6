import { rmaNumber } from '../../../contract/common.ts';
import {
  openTradeMoves,
  TRADE_RETURN_MOVES,
  TRADE_RETURN_RECEIPT,
  TRADE_RETURN_START,
  type TradeReturnAction,
} from '../../../contract/lifecycle.ts';
import type {
  CreateTradeReturn,
  ReceivedItem,
  ReceivedLine,
  TradeReturn,
  TradeReturnQuery,
} from '../../../contract/trade-return.ts';
import type { Event } from '../../events/event.ts';
import { exactNumber, parseJsonColumn } from '../../lib/json.ts';
import { toIso } from '../../lib/time.ts';
import { ServiceError } from '../../service/errors.ts';
import type { RmaFilters } from '../list.ts';
import { itemTexts } from '../search.ts';
import { type Kind, MUTABLE_IN_BOTH, type OwnColumns } from './kind.ts';
import { amountOf, hasCredit, linesOf, otherAmount, receiptOf, type TradeReturnRow } from './receipts.ts';

/** What a move may hold: each move has a schema of its own. */
interface MoveBody {
  note: string | null;
  lines?: ReceivedLine[] | null;
  complete?: boolean | null;
  creditAmount?: number | null;
}

const moveNotAllowed = (action: TradeReturnAction, status: TradeReturnRow['status']): ServiceError => {
  const open = openTradeMoves(status);
  const rest = open.length > 0 ? `open now: ${open.join(', ')}` : 'no move is open any more';
  // With lines it corrects what was counted.
  const what = action === 'receive' && status === 'TRADE_RECEIVED' ? 'receive without lines' : action;
  return new ServiceError('MOVE_NOT_ALLOWED', {
    message: `The return is ${status}, so ${what} is not open; ${rest}.`,
  });
};

const view = (row: TradeReturnRow): TradeReturn => {
  const items = linesOf(row);
  return {
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
    items,
    declaredAmount: exactNumber(amountOf(items, 'quantity')),
    creditAmount: hasCredit(row) ? exactNumber(row.credit_amount ?? amountOf(items, 'accepted')) : null,
    shippingAddress: parseJsonColumn('shipping_address', row.shipping_address),
    orderDate: row.order_date,
    customerNotes: row.customer_notes,
    faultDescription: row.fault_description,
    additionalComment: row.additional_comment,
    statusSince: toIso(row.status_since),
    createdAt: toIso(row.created_at),
    updatedAt: toIso(row.updated_at),
    erasedAt: row.erased_at === null ? null : toIso(row.erased_at),
  };
};

/** What a move changes beyond the status, and what its timeline entry holds. `row`: in place of the action's own. */
interface TradeEffect {
  set?: Partial<TradeReturnRow>;
  data?: object;
  row?: typeof TRADE_RETURN_RECEIPT;
}

/** null: nothing is different. */
const EFFECTS: Record<TradeReturnAction, (before: TradeReturnRow, body: MoveBody) => TradeEffect | null> = {
  approve: () => ({}),
  reject: () => ({}),
  receive(before, { lines = null, complete = null }) {
    const { receipts, told, isDifferent, isComplete } = receiptOf(before, lines, lines ? complete : true);
    const moves = isComplete && before.status === 'TRADE_APPROVED';
    if (!moves && !isDifferent) return null;
    return { set: { receipts }, data: { lines: told }, ...(moves ? {} : { row: TRADE_RETURN_RECEIPT }) };
  },
  'request-credit'(before, { creditAmount = null, note }) {
    const items = linesOf(before);
    const other = creditAmount === null ? null : otherAmount(items, creditAmount, note);
    const computed = amountOf(items, 'accepted');
    return other === null
      ? { data: { creditAmount: exactNumber(computed) } }
      : {
          set: { credit_amount: other },
          data: { creditAmount: exactNumber(other), computedAmount: exactNumber(computed) },
        };
  },
  resolve: () => ({}),
};

const receiptFields = (after: TradeReturnRow) => {
  const { items, creditAmount } = view(after);
  return {
    items: items.map(
      ({ line, sku, tradeLineItemId, quantity, received, accepted }): ReceivedItem => ({
        line,
        sku,
        tradeLineItemId,
        quantity,
        received,
        accepted,
      }),
    ),
    creditAmount,
  };
};

const creditFields = (after: TradeReturnRow) => ({ creditAmount: view(after).creditAmount });

/** What each move's event holds beyond status and previous status. */
const EVENT_FIELDS: Record<TradeReturnAction, (after: TradeReturnRow) => object> = {
  approve: () => ({}),
  reject: () => ({}),
  receive: receiptFields,
  'request-credit': creditFields,
  resolve: creditFields,
};

export const TRADE_RETURN: Kind = {
  table: 'trade_returns',
  path: 'trade-returns',
  mutable: [...MUTABLE_IN_BOTH, 'company_name', 'receipts', 'credit_amount'],
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
      receipts: null,
      credit_amount: null,
    } satisfies OwnColumns<'trade_returns'>,
    note: null,
    data: {},
  }),
  events: { created: 'trade_return.created', updated: 'trade_return.updated' },
  move(before: TradeReturnRow, anyAction, body) {
    const action = anyAction as TradeReturnAction;
    const given = body as MoveBody;
    const { status } = before;
    const { from } = action === 'receive' && given.lines ? TRADE_RETURN_RECEIPT : TRADE_RETURN_MOVES[action];
    if (!(from as readonly string[]).includes(status)) throw moveNotAllowed(action, status);
    const effect = EFFECTS[action](before, given);
    if (effect === null) return null;
    const { to, entry, event: name } = effect.row ?? TRADE_RETURN_MOVES[action];
    const moved = to === null ? {} : { previousStatus: status };
    return {
      set: { ...effect.set, ...(to === null ? {} : { status: to }) },
      entry,
      note: given.note,
      data: effect.data ?? {},
      event: (after) =>
        ({ name, data: { ...moved, ...EVENT_FIELDS[action](after as TradeReturnRow) } }) as Event,
    };
  },
  searchedIn: (row: TradeReturnRow) => [
    row.trade_order_number,
    row.company_name,
    row.company_id,
    ...itemTexts(row.items),
  ],
  view,
};
