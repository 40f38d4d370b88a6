import type { AdminTradeReturn } from '../../contract/admin-returns.ts';
import type { TradeReturnAction } from '../../contract/lifecycle.ts';
import type { TradeReturnQuery } from '../../contract/trade-return.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import { actionsOf } from '../returns/actions.ts';
import { TRADE_RETURN } from '../returns/kinds/trade-return.ts';
import { listRmas } from '../rma/list.ts';
import type { RmaFilters } from '../rma/list-query.ts';
import { viewFor } from '../rma/staff-view.ts';

const returns = actionsOf(TRADE_RETURN);

export const {
  create: createTradeReturn,
  dryRun: tryTradeReturn,
  get: getTradeReturn,
  timeline: getTradeReturnTimeline,
  note: noteTradeReturn,
  assign: assignTradeReturn,
  correct: correctTradeReturn,
  related: relatedToTradeReturn,
} = returns;

/** Staff's moves: from the right status only, and of two people at once one wins. */
export const moveTradeReturn = (
  ctx: Context,
  caller: Caller,
  id: string,
  action: TradeReturnAction,
  note: string | null,
  seen?: number,
): Promise<AdminTradeReturn> =>
  returns.move(ctx, caller, id, action, { note }, seen) as Promise<AdminTradeReturn>;

export const listTradeReturns = async (ctx: Context, caller: Caller, query: TradeReturnQuery & RmaFilters) =>
  listRmas(
    ctx,
    TRADE_RETURN.table,
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
    await viewFor(ctx, caller, TRADE_RETURN.view),
  );
