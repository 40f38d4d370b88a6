import type { AdminTradeReturn as TradeReturn } from '../../../../contract/admin-returns.ts';
import { columnClass, type PlainColumn, PlainTable } from '../../ui/plain-table.tsx';
import { SecondLine } from '../../ui/two-lines.tsx';
import { formatNumber, piecesOf, totalOf, useMoney } from '../numbers.ts';
import styles from './detail.module.css';

type Item = TradeReturn['items'][number];

const nameOf = ({ productName, variantTitle }: Item): string =>
  [productName, variantTitle].filter(Boolean).join(', ');

const detailsOf = ({ sku, tradeLineItemId, weight }: Item): string =>
  [sku, tradeLineItemId, weight !== null && `weight ${formatNumber(weight)}`].filter(Boolean).join(' · ');

export const ItemName = ({ item }: { item: Item }) => (
  <>
    <span className={styles['wrapping']} dir="auto">
      {nameOf(item)}
    </span>
    <SecondLine>{detailsOf(item)}</SecondLine>
  </>
);

const isCounted = ({ status, items }: Pick<TradeReturn, 'status' | 'items'>): boolean =>
  items.some(({ received }) => received > 0) || status === 'TRADE_RECEIVED';

interface Props {
  tradeReturn: TradeReturn;
  hasTotals?: boolean;
}

/** The items with what they come to: declared, and as soon as something arrived what was received and accepted of them. */
export const TradeItems = ({ tradeReturn, hasTotals = true }: Props) => {
  const money = useMoney();
  const { items, declaredAmount, creditAmount } = tradeReturn;
  const counted = isCounted(tradeReturn);
  const number = (header: string, cell: (item: Item) => string): PlainColumn<Item> => ({
    header,
    cell,
    className: columnClass('number'),
  });
  const total = (header: string, of: string, amount: number) => (
    <tr>
      <th scope="row" colSpan={counted ? 5 : 3}>
        {header} <SecondLine>{of}</SecondLine>
      </th>
      <td className={columnClass('number', 'total')}>{money(amount)}</td>
    </tr>
  );
  return (
    <PlainTable
      stacked
      rows={items}
      keyOf={({ line }) => line}
      columns={[
        { header: 'Product', className: columnClass('text'), cell: (item) => <ItemName item={item} /> },
        number(counted ? 'Declared' : 'Quantity', ({ quantity }) => formatNumber(quantity)),
        ...(counted
          ? [
              number('Received', ({ received }) => formatNumber(received)),
              number('Accepted', ({ accepted }) => formatNumber(accepted)),
            ]
          : []),
        number('Unit price', ({ price }) => money(price)),
        number('Total', (item) => money(totalOf([counted ? { ...item, quantity: item.accepted } : item]))),
      ]}
      footer={
        hasTotals ? (
          <tfoot>
            {total('Declared', piecesOf(items), declaredAmount)}
            {creditAmount === null ? null : total('Credit', 'for what was accepted', creditAmount)}
          </tfoot>
        ) : null
      }
    />
  );
};
