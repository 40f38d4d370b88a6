import type { TradeReturn } from '../../contract/trade-return.ts';

/** Prices and quantities have at most four decimals, so a product has at most eight. */
const DECIMALS = 4;

/** A number with at most four decimals as whole ten-thousandths. */
const tenThousandths = (value: number): bigint => BigInt(value.toFixed(DECIMALS).replace('.', ''));

/** The sum of price × quantity in plain decimal digits, with no binary rounding anywhere. */
export const creditAmount = (items: Pick<TradeReturn['items'][number], 'price' | 'quantity'>[]): string => {
  const sum = items.reduce(
    (total, { price, quantity }) => total + tenThousandths(price) * tenThousandths(quantity),
    0n,
  );
  const digits = sum.toString().padStart(2 * DECIMALS + 1, '0');
  const whole = digits.slice(0, -2 * DECIMALS);
  const fraction = digits.slice(-2 * DECIMALS).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
};
