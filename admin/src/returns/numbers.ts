import { useQuery } from '@tanstack/react-query';
import { formatNumber, moneyFormat } from '../format.ts';
import { shopSettingsQuery } from '../shop-queries.ts';

const UNIT = 10_000;
/** Rounded to four decimals, which is what prices and quantities have; so no binary rounding error shows. */
export const totalOf = (items: readonly { quantity: number; price: number }[]): number =>
  Math.round(items.reduce((sum, { quantity, price }) => sum + quantity * price, 0) * UNIT) / UNIT;

/** "40 lines, 190 pieces". */
export const piecesOf = (items: readonly { quantity: number }[]): string => {
  const pieces = totalOf(items.map(({ quantity }) => ({ quantity, price: 1 })));
  const lines = items.length === 1 ? '1 line' : `${formatNumber(items.length)} lines`;
  return `${lines}, ${formatNumber(pieces)} ${pieces === 1 ? 'piece' : 'pieces'}`;
};

/** How prices are written: in the shop's currency, or as plain numbers where the shop named none. */
export const useMoney = (): ((value: number) => string) => {
  const { data } = useQuery(shopSettingsQuery);
  const format = moneyFormat(data?.currency || null);
  return (value) => format.format(value);
};
