import { useQuery } from '@tanstack/react-query';
import { shopSettingsQuery } from '../shop-settings-query.ts';
import { formatAmount } from './numbers.ts';

/** How prices are written: in the shop's currency, or as plain numbers where the shop named none. */
export const useMoney = (): ((value: number) => string) => {
  const { data } = useQuery(shopSettingsQuery);
  const currency = data?.currency;
  if (!currency) return formatAmount;
  const format = new Intl.NumberFormat(undefined, {
    style: 'currency',
    currency,
    currencyDisplay: 'narrowSymbol',
    maximumFractionDigits: 4,
  });
  return (value) => format.format(value);
};
