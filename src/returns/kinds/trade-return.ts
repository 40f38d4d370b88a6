import type { z } from 'zod';
import { MoveQuery } from '../../../contract/admin-returns.ts';
import {
  openTradeMoves,
  TRADE_RETURN_MOVES,
  TRADE_RETURN_RECEIPT,
  TRADE_RETURN_START,
  type TradeReturnAction,
} from '../../../contract/lifecycle.ts';
import {
  CreateTradeReturn,
  ReceivedItem,
  TradeReturn,
  TradeReturnList,
  TradeReturnMoveBody,
  TradeReturnQuery,
} from '../../../contract/trade-return.ts';
import type { Event } from '../../events/event.ts';
import { exactNumber, namingRow, parseJsonColumn } from '../../lib/json.ts';
import { ServiceError } from '../../platform/errors.ts';
import { itemTexts } from '../search-text.ts';
import {
  customerOf,
  type Kind,
  leadingFields,
  type MoveTexts,
  type OwnColumns,
  timestampsOf,
} from './kind.ts';
import { amountOf, hasCredit, otherAmount, receiptOf, type TradeReturnRow, viewItems } from './receipts.ts';

type BodyOf<Action extends TradeReturnAction> = z.infer<(typeof TradeReturnMoveBody)[Action]>;
/** The possible fields of a move's body. Each move has its own schema. */
type MoveBody = BodyOf<'approve'> & Partial<BodyOf<'receive'> & BodyOf<'request-credit'>>;

const moveNotAllowed = (action: TradeReturnAction, status: TradeReturnRow['status']): ServiceError => {
  const allowed = openTradeMoves(status);
  const rest = allowed.length > 0 ? `open now: ${allowed.join(', ')}` : 'no move is open any more';
  // With lines, receive is allowed here: it corrects the counts.
  const what = action === 'receive' && status === 'TRADE_RECEIVED' ? 'receive without lines' : action;
  return new ServiceError('MOVE_NOT_ALLOWED', {
    message: `The return is ${status}, so ${what} is not open; ${rest}.`,
  });
};

const view = namingRow((row: TradeReturnRow): TradeReturn => {
  const items = viewItems(row);
  return {
    ...leadingFields(row),
    tradeOrderNumber: row.trade_order_number,
    ...customerOf(row),
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
    ...timestampsOf(row),
  };
});

/** The effect of a move besides the status: columns, timeline entry and event. `tableMove` overrides the row of the table of moves. */
interface TradeEffect {
  set?: Partial<TradeReturnRow>;
  data?: object;
  event?: (after: TradeReturnRow) => object;
  tableMove?: typeof TRADE_RETURN_RECEIPT;
}

type ToEffect = (before: TradeReturnRow, body: MoveBody) => TradeEffect | null;

const TRADE_EFFECTS: { [Name in TradeReturnAction]?: ToEffect } = {
  receive(before, { lines = null, complete = null }) {
    const { receipts, timelineLines, isDifferent, isComplete } = receiptOf(
      before,
      lines,
      lines ? complete : true,
    );
    const changesStatus = isComplete && before.status === 'TRADE_APPROVED';
    if (!changesStatus && !isDifferent) return null;
    const effect = { set: { receipts }, data: { lines: timelineLines }, event: receiptFields };
    return changesStatus ? effect : { ...effect, tableMove: TRADE_RETURN_RECEIPT };
  },
  'request-credit'(before, { creditAmount = null, note }) {
    const items = viewItems(before);
    const other = creditAmount === null ? null : otherAmount(items, creditAmount, note);
    const computedAmount = exactNumber(amountOf(items, 'accepted'));
    if (other === null) return { data: { creditAmount: computedAmount }, event: creditFields };
    const data = { creditAmount: exactNumber(other), computedAmount };
    return { set: { credit_amount: other }, data, event: creditFields };
  },
  resolve: () => ({ event: creditFields }),
};

const RECEIVED_FIELDS = Object.keys(ReceivedItem.shape) as (keyof ReceivedItem)[];

const receiptFields = (after: TradeReturnRow) => {
  const { items, creditAmount } = view(after);
  const received = items.map((item) => Object.fromEntries(RECEIVED_FIELDS.map((name) => [name, item[name]])));
  return { items: received, creditAmount };
};

const creditFields = (after: TradeReturnRow) => ({ creditAmount: view(after).creditAmount });

const moveTexts = (
  action: TradeReturnAction,
  operationId: string,
  summary: string,
  more = '',
): MoveTexts => ({
  operationId,
  summary,
  description: `Moves the return to \`${TRADE_RETURN_MOVES[action].to}\`. Allowed from ${TRADE_RETURN_MOVES[action].from.join(' and ')}; from another status a 409 names the allowed moves.${more}`,
});

const COUNTING = ` With \`lines\` it counts what arrived, line by line, and may be called again, in ${TRADE_RETURN_RECEIPT.from.join(' and ')}: the status stays until every line is fully received or \`complete\` says so.`;
const CREDITING = ' The credit is the sum of price × accepted, unless `creditAmount` replaces it.';

const TRADE_MOVE_TEXTS: Record<TradeReturnAction, MoveTexts> = {
  approve: moveTexts('approve', 'approveTradeReturn', 'Approve a trade return'),
  reject: moveTexts('reject', 'rejectTradeReturn', 'Reject a trade return'),
  receive: moveTexts('receive', 'receiveTradeReturn', 'Receive the goods of a trade return', COUNTING),
  'request-credit': moveTexts(
    'request-credit',
    'requestTradeReturnCredit',
    'Request the credit of a trade return',
    CREDITING,
  ),
  resolve: moveTexts('resolve', 'resolveTradeReturn', 'Resolve a trade return'),
};

export const TRADE_RETURN: Kind = {
  table: 'trade_returns',
  api: {
    tag: 'Trade returns',
    tagTexts: {
      external:
        "Business-to-business returns: you create and read them; the shop's staff move them, or a client with the right `move-trade-returns`.",
      admin: "The shop's trade returns, and the moves its staff make.",
    },
    names: { id: 'TradeReturn', one: 'a trade return', many: 'trade returns', short: 'trade return' },
    create: CreateTradeReturn,
    clients: { query: TradeReturnQuery, item: TradeReturn, list: TradeReturnList },
    moves: TRADE_MOVE_TEXTS,
    moveBodies: TradeReturnMoveBody,
    refusedMoves: ['MOVE_NOT_ALLOWED', 'EDIT_CONFLICT'],
    clientMoves: { right: 'move-trade-returns', query: MoveQuery },
    describe: {
      create:
        "A business-to-business return against a trade order. Counts toward the monthly allowance. Then the shop's staff move it, or a client with the right to; webhooks report each move.",
      related: 'List earlier returns of the company or customer',
    },
  },
  // 50 full rows are 12 MB at most.
  maxFullRows: 50,
  searched: { order: 'trade_order_number', about: 'company_name', aboutIn: (company) => company },
  skuOf: () => null,
  create: (body: CreateTradeReturn) => ({
    columns: {
      status: TRADE_RETURN_START,
      trade_order_number: body.tradeOrderNumber,
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
  move(before: TradeReturnRow, anyAction, body) {
    const action = anyAction as TradeReturnAction;
    const given = body as MoveBody;
    const { status } = before;
    const { from } = action === 'receive' && given.lines ? TRADE_RETURN_RECEIPT : TRADE_RETURN_MOVES[action];
    if (!(from as readonly string[]).includes(status)) throw moveNotAllowed(action, status);
    const effectOf: ToEffect = TRADE_EFFECTS[action] ?? (() => ({}));
    const effect = effectOf(before, given);
    if (effect === null) return null;
    const { to, entry, event: name } = effect.tableMove ?? TRADE_RETURN_MOVES[action];
    const moved = to === null ? {} : { previousStatus: status };
    return {
      set: { ...effect.set, ...(to === null ? {} : { status: to }) },
      entry,
      note: given.note,
      data: effect.data ?? {},
      event: (after) => ({ name, data: { ...moved, ...effect.event?.(after as TradeReturnRow) } }) as Event,
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
