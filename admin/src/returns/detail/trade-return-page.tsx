import { getRouteApi } from '@tanstack/react-router';
import type { TradeReturn } from '../../../../contract/trade-return.ts';
import plain from '../../ui/plain-table.module.css';
import { TwoLines } from '../../ui/two-lines.tsx';
import { TRADE_RETURNS } from '../kinds.ts';
import { TRADE_MOVES } from '../moves/moves.ts';
import { formatAmount, formatNumber, totalOf } from '../numbers.ts';
import { EmailLink, PhoneLink } from './contact-links.tsx';
import { Facts } from './facts.tsx';
import { ReturnDetail } from './return-detail.tsx';
import { Slip } from './slip.tsx';

const route = getRouteApi('/inside/trade-returns/$id');

export const TradeReturnPage = () => {
  const { id } = route.useParams();
  return (
    <ReturnDetail<TradeReturn>
      key={id}
      kind={TRADE_RETURNS}
      id={id}
      moves={TRADE_MOVES}
      facts={(tradeReturn) => <TradeFacts tradeReturn={tradeReturn} />}
      slip={(tradeReturn) => <TradeSlip tradeReturn={tradeReturn} />}
    />
  );
};

const addressLines = ({ street, suburb, state, postcode }: TradeReturn['shippingAddress']): string =>
  `${street}\n${suburb} ${state} ${postcode}`;

const TradeFacts = ({ tradeReturn }: { tradeReturn: TradeReturn }) => (
  <>
    <Facts title="Items" facts={[]}>
      <Items items={tradeReturn.items} />
    </Facts>
    <Facts
      title="Why"
      facts={[
        ['Reason', tradeReturn.reason],
        ['Fault', tradeReturn.faultDescription],
        ['Customer notes', tradeReturn.customerNotes],
        ['Comment', tradeReturn.additionalComment],
      ]}
    />
    <Facts
      title="Company"
      facts={[
        ['Company', tradeReturn.companyName],
        ['Company id', tradeReturn.companyId],
        ['Contact', tradeReturn.customerName],
        ['E-mail', <EmailLink key="email" address={tradeReturn.customerEmail} />],
        ['Phone', tradeReturn.customerPhone && <PhoneLink key="phone" number={tradeReturn.customerPhone} />],
        ['Goods come from', addressLines(tradeReturn.shippingAddress)],
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

const cells = (...names: string[]): string => names.map((name) => plain[name]).join(' ');

const Items = ({ items }: Pick<TradeReturn, 'items'>) => (
  <table className={plain['table']}>
    <thead>
      <tr>
        <th scope="col">Product</th>
        <th scope="col" className={cells('number')}>
          Quantity
        </th>
        <th scope="col" className={cells('number')}>
          Price
        </th>
        <th scope="col" className={cells('number', 'wide-only')}>
          Worth
        </th>
      </tr>
    </thead>
    <tbody>
      {items.map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity of their own and never change
        <tr key={index}>
          <td>
            <TwoLines
              first={[item.productName, item.variantTitle].filter(Boolean).join(', ')}
              second={[
                item.sku,
                item.tradeLineItemId,
                item.weight !== null && `weight ${formatNumber(item.weight)}`,
              ]
                .filter(Boolean)
                .join(' · ')}
            />
          </td>
          <td className={cells('number')}>{formatNumber(item.quantity)}</td>
          <td className={cells('number')}>{formatAmount(item.price)}</td>
          <td className={cells('number', 'wide-only')}>{formatAmount(totalOf([item]))}</td>
        </tr>
      ))}
    </tbody>
    <tfoot>
      <tr>
        <th scope="row">Together</th>
        <td className={cells('number')}>
          {formatNumber(totalOf(items.map((item) => ({ ...item, price: 1 }))))}
        </td>
        <td className={cells('number', 'narrow-only', 'total')}>{formatAmount(totalOf(items))}</td>
        <td className={cells('wide-only')} />
        <td className={cells('number', 'wide-only', 'total')}>{formatAmount(totalOf(items))}</td>
      </tr>
    </tfoot>
  </table>
);

const TradeSlip = ({ tradeReturn }: { tradeReturn: TradeReturn }) => (
  <Slip
    heading="Trade return"
    rmaNumber={tradeReturn.rmaNumber}
    createdAt={tradeReturn.createdAt}
    facts={[
      ['Company', `${tradeReturn.companyName} (${tradeReturn.companyId})`],
      ['Contact', tradeReturn.customerName],
      ['Phone', tradeReturn.customerPhone],
      ['Trade order', tradeReturn.tradeOrderNumber],
      ['From', addressLines(tradeReturn.shippingAddress)],
      ['Reason', tradeReturn.reason],
    ]}
  >
    <table>
      <thead>
        <tr>
          <th>Sku</th>
          <th>Product</th>
          <th className="slip-quantity">Quantity</th>
        </tr>
      </thead>
      <tbody>
        {tradeReturn.items.map((item, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity of their own and never change
          <tr key={index}>
            <td>{item.sku}</td>
            <td>{[item.productName, item.variantTitle].filter(Boolean).join(', ')}</td>
            <td className="slip-quantity">{formatNumber(item.quantity)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </Slip>
);
