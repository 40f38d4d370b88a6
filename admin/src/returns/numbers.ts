const amountFormat = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 4 });
const numberFormat = new Intl.NumberFormat(undefined, { maximumFractionDigits: 4 });
/** A price. The service keeps no currency. */
export const formatAmount = (value: number): string => amountFormat.format(value);
export const formatNumber = (value: number): string => numberFormat.format(value);

const UNIT = 10_000;
/** Rounded to four decimals, which is what prices and quantities have; so no binary rounding error shows. */
export const totalOf = (items: readonly { quantity: number; price: number }[]): number =>
  Math.round(items.reduce((sum, { quantity, price }) => sum + quantity * price, 0) * UNIT) / UNIT;
