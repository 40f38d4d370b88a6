import { Button } from '@mantine/core';
import { useState } from 'react';
import type { AdminTradeReturn as TradeReturn } from '../../../../contract/admin-returns.ts';
import { formatNumber } from '../../format.ts';
import { texts } from '../../texts.ts';
import { columnClass, type PlainColumn, PlainTable } from '../../ui/plain-table.tsx';
import { SecondLine } from '../../ui/two-lines.tsx';
import { piecesOf, totalOf, useMoney } from '../numbers.ts';
import styles from './detail.module.css';

const words = texts.detail;

type Item = TradeReturn['items'][number];

const nameOf = ({ productName, variantTitle }: Item): string =>
  [productName, variantTitle].filter(Boolean).join(', ');

const detailsOf = ({ tradeLineItemId, weight }: Item): string =>
  [tradeLineItemId, weight !== null && words.weightOf(formatNumber(weight))]
    .filter(Boolean)
    .map((detail) => ` · ${detail}`)
    .join('');

export const ItemName = ({ item }: { item: Item }) => (
  <>
    <span className={styles['wrapping']} dir="auto">
      {nameOf(item)}
    </span>
    <SecondLine>
      <span className="code">{item.sku}</span>
      {detailsOf(item)}
    </SecondLine>
  </>
);

const isCounted = ({ status, items }: Pick<TradeReturn, 'status' | 'items'>): boolean =>
  items.some(({ received }) => received > 0) || status === 'TRADE_RECEIVED';

/** So many lines are shown before the rest is folded: the order and the company below stay in reach. */
const FOLD_AT = 15;

interface Props {
  tradeReturn: TradeReturn;
  hasTotals?: boolean;
  isFolded?: boolean;
}

/** The items with what they come to: declared, and as soon as something arrived what was received and accepted of them. */
export const TradeItems = ({ tradeReturn, hasTotals = true, isFolded = false }: Props) => {
  const money = useMoney();
  const [open, setOpen] = useState(false);
  const { items, declaredAmount, creditAmount } = tradeReturn;
  const folds = isFolded && items.length > FOLD_AT;
  const counted = isCounted(tradeReturn);
  const worth = (item: Item): string =>
    money(totalOf([counted ? { ...item, quantity: item.accepted } : item]));
  const number = (header: string, cell: (item: Item) => string): PlainColumn<Item> => ({
    header,
    cell,
    className: `${columnClass('number')} ${styles['wide']}`,
  });
  const computed = totalOf(items.map(({ price, accepted }) => ({ price, quantity: accepted })));
  const isComputed = creditAmount === null || totalOf([{ price: creditAmount, quantity: 1 }]) === computed;
  const total = (header: string, of: string, amount: number) => (
    <tr>
      <th scope="row" colSpan={counted ? 5 : 3}>
        {header} <SecondLine>{of}</SecondLine>
      </th>
      <td className={columnClass('number', 'total')}>{money(amount)}</td>
    </tr>
  );
  return (
    <>
      <PlainTable
        stacked
        rows={folds && !open ? items.slice(0, FOLD_AT) : items}
        keyOf={({ line }) => line}
        columns={[
          {
            header: words.product,
            className: columnClass('text'),
            cell: (item) => (
              <>
                <ItemName item={item} />
                <span className={styles['sum']}>
                  {counted
                    ? words.countedSum(
                        formatNumber(item.quantity),
                        formatNumber(item.received),
                        formatNumber(item.accepted),
                        worth(item),
                      )
                    : words.sum(formatNumber(item.quantity), money(item.price), worth(item))}
                </span>
              </>
            ),
          },
          number(counted ? words.declared : words.quantity, ({ quantity }) => formatNumber(quantity)),
          ...(counted
            ? [
                number(words.received, ({ received }) => formatNumber(received)),
                number(words.accepted, ({ accepted }) => formatNumber(accepted)),
              ]
            : []),
          number(words.unitPrice, ({ price }) => money(price)),
          number(words.total, worth),
        ]}
        footer={
          hasTotals ? (
            <tfoot>
              {total(words.declared, piecesOf(items), declaredAmount)}
              {creditAmount === null
                ? null
                : total(words.credit, isComputed ? words.forAccepted : words.asRequested, creditAmount)}
            </tfoot>
          ) : null
        }
      />
      {folds ? (
        <Button variant="subtle" size="xs" mt="xs" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? words.showLess : words.allLines(items.length)}
        </Button>
      ) : null}
    </>
  );
};
