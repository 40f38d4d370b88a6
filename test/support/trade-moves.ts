import type { TradeReturnAction, TradeReturnStatus } from '../../contract/lifecycle.ts';
import { tradeReturns } from '../../src/returns/actions.ts';
import { newTradeReturn, staffOf } from './api.ts';
import type { Harness, SendOptions } from './harness.ts';

const WAY_TO: Record<TradeReturnStatus, TradeReturnAction[]> = {
  TRADE_SUBMITTED: [],
  TRADE_APPROVED: ['approve'],
  TRADE_REJECTED: ['reject'],
  TRADE_RECEIVED: ['approve', 'receive'],
  TRADE_CREDIT_REQUESTED: ['approve', 'receive', 'request-credit'],
  TRADE_RESOLVED: ['approve', 'receive', 'resolve'],
};

export const moveThrough = async (
  t: Harness,
  id: string,
  actions: TradeReturnAction[],
  caller = staffOf(t),
): Promise<void> => {
  for (const action of actions) await tradeReturns.move(t.ctx, caller, id, action, { note: null });
};

/** A trade return of a program that is in that status now. */
export const tradeReturnIn = async (
  t: Harness,
  status: TradeReturnStatus,
  options: SendOptions = {},
): Promise<{ id: string }> => {
  const { id } = await newTradeReturn(t, {}, options);
  await moveThrough(t, id, WAY_TO[status]);
  return { id };
};
