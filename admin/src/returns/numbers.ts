const amount = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 4 });
const figure = new Intl.NumberFormat(undefined, { maximumFractionDigits: 4 });
/** A price; which currency it is in, the shop knows. */
export const formatAmount = (value: number): string => amount.format(value);
export const formatNumber = (value: number): string => figure.format(value);

const UNIT = 10_000;
/** Prices and quantities have four decimals at most; so has what is shown of their sum, without the drift of binary sums. */
export const totalOf = (items: readonly { quantity: number; price: number }[]): number =>
  Math.round(items.reduce((sum, { quantity, price }) => sum + quantity * price, 0) * UNIT) / UNIT;
