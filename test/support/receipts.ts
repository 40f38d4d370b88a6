import { expect } from 'vitest';
import type { TradeReturn } from '../../contract/trade-return.ts';

export type Figures = [received: number, accepted: number];

/** In hundred-millionths: four decimals of the price by four of the count. */
const product = (price: number, count: number): bigint =>
  BigInt(Math.round(price * 10_000)) * BigInt(Math.round(count * 10_000));
const sumOf = (items: TradeReturn['items'], count: 'quantity' | 'accepted'): bigint =>
  items.reduce((sum, item) => sum + product(item.price, item[count]), 0n);
const unitsOf = (amount: number): bigint => BigInt(Math.round(amount * 100_000_000));

const WITH_CREDIT = ['TRADE_RECEIVED', 'TRADE_CREDIT_REQUESTED', 'TRADE_RESOLVED'];

/** What holds for every trade return with amounts that a double keeps, whatever was done to it. A requested credit may be another amount. */
export const expectSound = ({ status, items, declaredAmount, creditAmount }: TradeReturn): void => {
  for (const [i, { line, quantity, received, accepted }] of items.entries()) {
    expect(line).toBe(i + 1);
    expect(0 <= accepted && accepted <= received && received <= quantity).toBe(true);
  }
  expect(unitsOf(declaredAmount)).toBe(sumOf(items, 'quantity'));
  expect(creditAmount !== null).toBe(WITH_CREDIT.includes(status));
  if (creditAmount === null) return;
  expect(creditAmount <= declaredAmount).toBe(true);
  if (status === 'TRADE_RECEIVED') expect(unitsOf(creditAmount)).toBe(sumOf(items, 'accepted'));
};
