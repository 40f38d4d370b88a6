import type { AdminOfflineRepair, AdminTradeReturn } from '../../../contract/admin-returns.ts';

// The two kinds of return: their addresses, what they are called, and what only one of them can be narrowed by.

export type AnyReturn = AdminOfflineRepair | AdminTradeReturn;

export const REPAIRS = {
  path: '/offline-repairs',
  detail: '/offline-repairs/$id',
  add: '/offline-repairs/new',
  overview: 'offlineRepairs',
  savedKind: 'OFFLINE_REPAIR',
  title: 'Offline repairs',
  one: 'repair',
  many: 'repairs',
  filters: ['storeId', 'store', 'isDangerous', 'disposition'],
} as const;
export const TRADE_RETURNS = {
  path: '/trade-returns',
  detail: '/trade-returns/$id',
  add: '/trade-returns/new',
  overview: 'tradeReturns',
  savedKind: 'TRADE_RETURN',
  title: 'Trade returns',
  one: 'trade return',
  many: 'trade returns',
  filters: ['companyId', 'company'],
} as const;
export type Kind = typeof REPAIRS | typeof TRADE_RETURNS;
export const KINDS = [REPAIRS, TRADE_RETURNS] as const;
/** By the name that the service gives them. */
export const KIND_OF = { OFFLINE_REPAIR: REPAIRS, TRADE_RETURN: TRADE_RETURNS } as const;

export const countOf = (count: number, { one, many }: Kind): string =>
  `${count.toLocaleString()} ${count === 1 ? one : many}`;
