import type { TradeReturn } from '../../../../contract/trade-return.ts';
import plain from '../../ui/plain-table.module.css';
import { SecondLine } from '../../ui/second-line.tsx';
import { formatNumber, totalOf } from '../numbers.ts';
import { useMoney } from '../use-money.ts';
import styles from './detail.module.css';

type Item = TradeReturn['items'][number];

const classes = (...names: string[]): string => names.map((name) => plain[name]).join(' ');

const nameOf = ({ productName, variantTitle }: Item): string =>
  [productName, variantTitle].filter(Boolean).join(', ');

const detailsOf = ({ sku, tradeLineItemId, weight }: Item): string =>
  [sku, tradeLineItemId, weight !== null && `weight ${formatNumber(weight)}`].filter(Boolean).join(' · ');

export const TradeItems = ({ items }: Pick<TradeReturn, 'items'>) => {
  const money = useMoney();
  return (
    <table className={plain['table']}>
      <thead>
        <tr>
          <th scope="col">Product</th>
          <th scope="col" className={classes('number')}>
            Quantity
          </th>
          <th scope="col" className={classes('number', 'wide-only')}>
            Price
          </th>
          <th scope="col" className={classes('number')}>
            Total
          </th>
        </tr>
      </thead>
      <tbody>
        {items.map((item, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity of their own and never change
          <tr key={index}>
            <td className={classes('text')}>
              <span className={styles['wrapping']} dir="auto">
                {nameOf(item)}
              </span>
              <SecondLine>{detailsOf(item)}</SecondLine>
              <div className={classes('narrow-only')}>
                <SecondLine>{money(item.price)} each</SecondLine>
              </div>
            </td>
            <td className={classes('number')}>{formatNumber(item.quantity)}</td>
            <td className={classes('number', 'wide-only')}>{money(item.price)}</td>
            <td className={classes('number')}>{money(totalOf([item]))}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">Total</th>
          <td className={classes('number')}>
            {formatNumber(totalOf(items.map((item) => ({ ...item, price: 1 }))))}
          </td>
          <td className={classes('wide-only')} />
          <td className={classes('number', 'total')}>{money(totalOf(items))}</td>
        </tr>
      </tfoot>
    </table>
  );
};
