import { expect, it } from 'vitest';
import {
  knownCompanies,
  knownRepairs,
  looksLike,
  looksLikeOrder,
} from '../../admin/src/returns/new/known.ts';
import type { AdminOfflineRepair, AdminTradeReturn } from '../../contract/admin-returns.ts';

it.each([
  ['ada@example.com', 'email'],
  ['+44 20 7946 0018', 'phone'],
  ['020 7946-0018', 'phone'],
  ['(020) 79460018', 'phone'],
  ['01512345678', 'phone'],
  ['4006381333931', 'other'],
  ['SN-448120', 'other'],
  ['2026-1234567', 'other'],
  ['0042', 'other'],
])('%j looks like: %s', (typed, looks) => {
  expect(looksLike(typed)).toBe(looks);
});

let made = 0;
const repair = (serialNumber: string | null, more: object = {}): AdminOfflineRepair => {
  made += 1;
  return {
    id: String(made),
    rmaNumber: `#RMA-00090${made}`,
    customerName: 'Nora Wind',
    customerEmail: 'nora@example.com',
    customerPhone: '+44 20 7946 0018',
    orderNumber: 'SO-77',
    faultyItem: { sku: 'DRILL-18', productName: 'Drill', serialNumber },
    erasedAt: null,
    ...more,
  } as AdminOfflineRepair;
};

it.each([
  ['so-9', true],
  ['SN-9', false],
  ['ZZ-9', false],
  ['1234', false],
])('%j looks like an order number of a shop whose orders are SO-77: %s', (typed, isOrder) => {
  expect(looksLikeOrder(typed, [repair('SN-1'), repair(null)])).toBe(isOrder);
  expect(looksLikeOrder(typed, [])).toBe(false);
});

it('an order number of digits only is recognised by its length, unless serial numbers have the same', () => {
  const recent = [repair('4006381333931', { orderNumber: '100042' })];
  expect(looksLikeOrder('100043', recent)).toBe(true);
  expect(looksLikeOrder('4006381333948', recent)).toBe(false);
  expect(looksLikeOrder('100043', [...recent, repair('200017')])).toBe(false);
});

const FOUND = [
  repair('SN-1'),
  repair('SN-10', { customerEmail: 'Ada@example.com', customerName: 'Ada' }),
  repair('SN-1'),
  repair('SN-1', { erasedAt: '2026-11-18T08:00:00.000Z' }),
];
const summaryOf = (typed: string) =>
  knownRepairs(FOUND, typed).map(({ item, fills, isExact, earlier }) => [
    item.id,
    fills,
    isExact,
    earlier.length,
  ]);

it('an item is suggested once, from its newest return, and part of its number is not an exact match', () => {
  expect(summaryOf('sn-1')).toEqual([
    ['1', 'item', true, 0],
    ['2', 'item', false, 0],
  ]);
  expect(summaryOf('RMA-000902')).toEqual([
    ['2', 'item', true, 0],
    ['1', 'customer', false, 2],
  ]);
});

it('a customer is suggested once, by phone number in any form or email in any case', () => {
  expect(summaryOf('020 7946 0018')).toEqual([
    ['1', 'customer', true, 2],
    ['2', 'customer', true, 1],
  ]);
  expect(summaryOf('ada@EXAMPLE.com').find(([id]) => id === '2')).toEqual(['2', 'customer', true, 1]);
});

it('an order of a company fills in its lines, and its name only the company', () => {
  const trade = (id: string, tradeOrderNumber: string) =>
    ({
      id,
      rmaNumber: `#RMA-00080${id}`,
      tradeOrderNumber,
      companyId: 'company-118',
      companyName: 'Northwind',
      customerName: 'Nora',
      customerEmail: 'buying@northwind.example',
      customerPhone: null,
      erasedAt: null,
    }) as AdminTradeReturn;
  const found = [trade('1', 'TO-2'), trade('2', 'TO-1')];
  const fillsOf = (typed: string) =>
    knownCompanies(found, typed).map(({ item, fills, isExact }) => [item.id, fills, isExact]);
  expect(fillsOf('to-1')[0]).toEqual(['2', 'item', true]);
  expect(fillsOf('northwind')).toEqual([['1', 'customer', true]]);
});
