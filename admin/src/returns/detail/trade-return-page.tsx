import { getRouteApi } from '@tanstack/react-router';
import { Building2, MapPin, Package, UserRound } from 'lucide-react';
import type { AdminTradeReturn as TradeReturn } from '../../../../contract/admin-returns.ts';
import { columnClass, NarrowOnly, PlainTable } from '../../ui/plain-table.tsx';
import { SecondLine } from '../../ui/two-lines.tsx';
import { TRADE_RETURNS } from '../kinds.ts';
import { TRADE_MOVES } from '../moves/moves.ts';
import { formatNumber, totalOf, useMoney } from '../numbers.ts';
import styles from './detail.module.css';
import { EmailLink, Facts, FoldedText, PhoneLink, Quiet, type SummaryPart } from './facts.tsx';
import { ReturnDetail } from './return-detail.tsx';

const route = getRouteApi('/inside/trade-returns/$id');

export const TradeReturnPage = () => {
  const { id } = route.useParams();
  return (
    <ReturnDetail<TradeReturn>
      key={id}
      kind={TRADE_RETURNS}
      id={id}
      moves={TRADE_MOVES}
      summary={summaryOf}
      facts={(tradeReturn) => <TradeFacts tradeReturn={tradeReturn} />}
    />
  );
};

const summaryOf = (tradeReturn: TradeReturn): SummaryPart[] => {
  const { items, customerPhone, shippingAddress } = tradeReturn;
  const { street, suburb, state, postcode } = shippingAddress;
  return [
    {
      label: 'Company',
      icon: Building2,
      lead: tradeReturn.companyName,
      lines: [<Quiet key="id">{tradeReturn.companyId}</Quiet>],
    },
    {
      label: 'Contact',
      icon: UserRound,
      lead: tradeReturn.customerName,
      lines: [
        customerPhone && <PhoneLink number={customerPhone} />,
        <EmailLink key="email" address={tradeReturn.customerEmail} />,
      ],
    },
    {
      label: 'Items',
      icon: Package,
      lead: items[0]?.productName ?? '',
      lines: [items.length > 1 && `and ${items.length - 1} more`, <Worth key="worth" items={items} />],
    },
    { label: 'Goods come from', icon: MapPin, lines: [street, `${suburb} ${state} ${postcode}`] },
  ];
};

const Worth = ({ items }: Pick<TradeReturn, 'items'>) => useMoney()(totalOf(items));

const folded = (text: string | null) => text && <FoldedText>{text}</FoldedText>;

const TradeFacts = ({ tradeReturn }: { tradeReturn: TradeReturn }) => (
  <>
    <Facts title="Items" facts={[]}>
      <TradeItems items={tradeReturn.items} />
    </Facts>
    <Facts
      title="Why"
      facts={[
        ['Reason', folded(tradeReturn.reason)],
        ['Fault', folded(tradeReturn.faultDescription)],
        ['Customer notes', folded(tradeReturn.customerNotes)],
        ['Comment', folded(tradeReturn.additionalComment)],
      ]}
    />
    <Facts
      title="Order"
      facts={[
        ['Trade order', tradeReturn.tradeOrderNumber],
        ['Order date', tradeReturn.orderDate],
        ['Your reference', tradeReturn.externalRef],
        ['Source system', tradeReturn.externalSource],
      ]}
    />
  </>
);

type Item = TradeReturn['items'][number];

const nameOf = ({ productName, variantTitle }: Item): string =>
  [productName, variantTitle].filter(Boolean).join(', ');

const detailsOf = ({ sku, tradeLineItemId, weight }: Item): string =>
  [sku, tradeLineItemId, weight !== null && `weight ${formatNumber(weight)}`].filter(Boolean).join(' · ');

const TradeItems = ({ items }: Pick<TradeReturn, 'items'>) => {
  const money = useMoney();
  return (
    <PlainTable
      rows={items}
      // Lines have no identity of their own and never change.
      keyOf={(_item, index) => index}
      columns={[
        {
          header: 'Product',
          className: columnClass('text'),
          cell: (item) => (
            <>
              <span className={styles['wrapping']} dir="auto">
                {nameOf(item)}
              </span>
              <SecondLine>{detailsOf(item)}</SecondLine>
              <NarrowOnly>
                <SecondLine>{money(item.price)} each</SecondLine>
              </NarrowOnly>
            </>
          ),
        },
        {
          header: 'Quantity',
          className: columnClass('number'),
          cell: ({ quantity }) => formatNumber(quantity),
        },
        {
          header: 'Price',
          className: columnClass('number', 'wide-only'),
          cell: ({ price }) => money(price),
        },
        {
          header: 'Total',
          className: columnClass('number'),
          cell: (item) => money(totalOf([item])),
        },
      ]}
      footer={
        <tfoot>
          <tr>
            <th scope="row">Total</th>
            <td className={columnClass('number')}>
              {formatNumber(totalOf(items.map((item) => ({ ...item, price: 1 }))))}
            </td>
            <td className={columnClass('wide-only')} />
            <td className={columnClass('number', 'total')}>{money(totalOf(items))}</td>
          </tr>
        </tfoot>
      }
    />
  );
};
