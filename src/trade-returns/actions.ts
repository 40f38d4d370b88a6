import type { AdminTradeReturn, CorrectTradeReturn, RelatedReturns } from '../../contract/admin-returns.ts';
import type { Page } from '../../contract/common.ts';
import {
  MOVE_ENTRIES,
  openTradeMoves,
  TRADE_RETURN_MOVES,
  TRADE_RETURN_START,
  type TradeReturnAction,
} from '../../contract/lifecycle.ts';
import type { CreateTradeReturn, TradeReturn, TradeReturnQuery } from '../../contract/trade-return.ts';
import type { DryRun } from '../../contract/usage.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import type { Row } from '../db/schema.ts';
import { ServiceError } from '../errors.ts';
import type { Event, EventExtra } from '../events/event.ts';
import { exactNumber } from '../exact-number.ts';
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
import { fromStored } from '../stored-json.ts';
import { creditAmount } from './credit.ts';
import { viewTradeReturn } from './view.ts';

const TABLE = 'trade_returns';
type Return = Row<'trade_returns'>;

const requestOf = (body: CreateTradeReturn, key: string | undefined): CreateRequest<TradeReturn> => ({
  kind: TABLE,
  path: 'trade-returns',
  body,
  key,
  make(rma) {
    const made: Omit<Return, 'search_text'> = {
      ...rma,
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
    };
    const row: Return = { ...made, search_text: searchTextOf(made) };
    const answer = viewTradeReturn(row);
    return { row, answer, event: { name: 'trade_return.created', data: answer } };
  },
});

export const createTradeReturn = (
  ctx: Context,
  caller: Caller,
  body: CreateTradeReturn,
  key?: string,
): Promise<Created<TradeReturn>> => createRma(ctx, caller, requestOf(body, key));

export const tryTradeReturn = (
  ctx: Context,
  caller: Caller,
  body: CreateTradeReturn,
  key?: string,
): Promise<DryRun> => tryCreation(ctx, caller, requestOf(body, key));

export const getTradeReturn = async (
  ctx: Context,
  caller: Caller,
  id: string,
  ahead?: Ahead<'trade_returns'>,
): Promise<TradeReturn> => {
  const [row, view] = await Promise.all([
    findRma(ctx, TABLE, caller, id, ahead),
    viewFor(ctx, caller, viewTradeReturn),
  ]);
  return view(row);
};

export const listTradeReturns = async (ctx: Context, caller: Caller, query: TradeReturnQuery & RmaFilters) =>
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
      trade_order_number: query.tradeOrderNumber,
      company_id: query.companyId,
      customer_email: query.customerEmail,
    },
    await viewFor(ctx, caller, viewTradeReturn),
  );

export const getTradeReturnTimeline = (ctx: Context, caller: Caller, id: string, page: Page) =>
  readTimeline(ctx, TABLE, caller, id, page);

export const noteTradeReturn = (
  ctx: Context,
  caller: Caller,
  id: string,
  note: string,
): Promise<AdminTradeReturn> =>
  viewChanged(viewForStaff(ctx, caller, viewTradeReturn), () => addNote(ctx, caller, TABLE, id, note));

export const assignTradeReturn = (
  ctx: Context,
  caller: Caller,
  id: string,
  assigneeId: string | null,
): Promise<AdminTradeReturn> =>
  viewChanged(viewForStaff(ctx, caller, viewTradeReturn), () =>
    assignRma(ctx, caller, TABLE, id, assigneeId),
  );

export const correctTradeReturn = (
  ctx: Context,
  caller: Caller,
  id: string,
  body: CorrectTradeReturn,
): Promise<AdminTradeReturn> =>
  viewChanged(viewForStaff(ctx, caller, viewTradeReturn), () => correctRma(ctx, caller, TABLE, id, body));

export const relatedToTradeReturn = (ctx: Context, caller: Caller, id: string): Promise<RelatedReturns> =>
  findRelated(ctx, TABLE, caller, id);

type MoveEvent = (typeof TRADE_RETURN_MOVES)[TradeReturnAction]['event'];

/** What each event tells beyond what all events do. */
const TELLS: { [Name in MoveEvent]: (before: Return) => EventExtra<Name> } = {
  'trade_return.status_changed': ({ status }) => ({ previousStatus: status }),
  'trade_return.credit_requested': ({ status, items }) => ({
    previousStatus: status,
    creditAmount: exactNumber(creditAmount(fromStored('items', items))),
  }),
  'trade_return.resolved': ({ status }) => ({ previousStatus: status }),
};

/** Staff's moves: from the right status only, and of two people at once one wins. */
export const moveTradeReturn = (
  ctx: Context,
  caller: Caller,
  id: string,
  action: TradeReturnAction,
  note: string | null,
  seen?: number,
): Promise<AdminTradeReturn> => {
  const { from, to, entry, event } = TRADE_RETURN_MOVES[action];
  const change = ({ status }: Return) => {
    if (!(from as readonly string[]).includes(status)) throw notOpen(action, status);
    return {
      set: { status: to },
      entry,
      note,
      event: (before: Return) => ({ name: event, data: TELLS[event](before) }) as Event,
    };
  };
  return viewChanged(viewForStaff(ctx, caller, viewTradeReturn), () =>
    changeRma(ctx, caller, TABLE, id, change, seenAt(seen, MOVE_ENTRIES)),
  );
};

const notOpen = (action: TradeReturnAction, status: Return['status']): ServiceError => {
  const open = openTradeMoves(status);
  const rest = open.length > 0 ? `open now: ${open.join(', ')}` : 'no move is open any more';
  return new ServiceError('MOVE_NOT_ALLOWED', {
    message: `The return is ${status}, so ${action} is not open; ${rest}.`,
  });
};
