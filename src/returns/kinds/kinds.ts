import type { ReturnTable } from '../../../contract/kinds.ts';
import type { Kind } from './kind.ts';
import { OFFLINE_REPAIR } from './offline-repair.ts';
import { TRADE_RETURN } from './trade-return.ts';

/** The behaviour of each kind when a return is created, changed, shown or searched. Names and statuses are in contract/kinds.ts. */
export const KINDS: Record<ReturnTable, Kind> = {
  offline_repairs: OFFLINE_REPAIR,
  trade_returns: TRADE_RETURN,
};

export const KIND_APIS = Object.values(KINDS).map(({ api }) => api);
