import type { OfflineRepair } from '../../../contract/offline-repair.ts';
import type { TradeReturn } from '../../../contract/trade-return.ts';

// The two kinds of return: their addresses and what they are called.

export type AnyReturn = OfflineRepair | TradeReturn;

export const REPAIRS = {
  path: '/offline-repairs',
  detail: '/offline-repairs/$id',
  add: '/offline-repairs/new',
  overview: 'offlineRepairs',
  title: 'Offline repairs',
  one: 'repair',
  many: 'repairs',
  reference: 'storeId',
  referenceLabel: 'Store',
} as const;
export const TRADE_RETURNS = {
  path: '/trade-returns',
  detail: '/trade-returns/$id',
  add: '/trade-returns/new',
  overview: 'tradeReturns',
  title: 'Trade returns',
  one: 'trade return',
  many: 'trade returns',
  reference: 'companyId',
  referenceLabel: 'Company id',
} as const;
export type Kind = typeof REPAIRS | typeof TRADE_RETURNS;

export const countOf = (count: number, { one, many }: Kind): string =>
  `${count.toLocaleString()} ${count === 1 ? one : many}`;
