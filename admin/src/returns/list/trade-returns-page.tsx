import type { AdminTradeReturn } from '../../../../contract/admin-returns.ts';
import { texts } from '../../texts.ts';
import { OrErased, TwoLines } from '../../ui/two-lines.tsx';
import { describeStatus, TRADE_RETURNS } from '../kinds.ts';
import { TRADE_MOVES } from '../moves/moves.ts';
import { piecesOf, useMoney } from '../numbers.ts';
import { type CsvColumn, csvTime } from './csv.ts';
import { ReturnsList } from './returns-list.tsx';
import type { ReturnColumn } from './returns-table.tsx';

const { columns: headers } = texts.list;

const Money = ({ value }: { value: number }) => useMoney()(value);

const Amount = ({ item: { declaredAmount, creditAmount } }: { item: AdminTradeReturn }) => {
  const money = useMoney();
  return (
    <TwoLines
      first={money(declaredAmount)}
      second={
        creditAmount === null || creditAmount === declaredAmount
          ? undefined
          : texts.list.credit(money(creditAmount))
      }
    />
  );
};

const COLUMNS: ReturnColumn<AdminTradeReturn>[] = [
  {
    header: headers.company,
    inCard: true,
    cell: ({ companyName, customerName }) => (
      <TwoLines first={companyName} second={<OrErased>{customerName}</OrErased>} />
    ),
  },
  {
    header: headers.lines,
    width: '8.5rem',
    wideOnly: 'roomy',
    inCard: true,
    cell: ({ items }) => <TwoLines first={piecesOf(items)} />,
    cardCell: (item) => (
      <TwoLines first={piecesOf(item.items)} second={<Money value={item.declaredAmount} />} />
    ),
  },
  { header: headers.total, width: '7rem', isNumber: true, cell: (item) => <Amount item={item} /> },
  {
    header: headers.order,
    width: '8rem',
    wideOnly: 'widest',
    isLast: true,
    cell: ({ tradeOrderNumber }) => <TwoLines first={tradeOrderNumber} />,
  },
];

const CSV: CsvColumn<AdminTradeReturn>[] = [
  { header: 'Number', value: ({ rmaNumber }) => rmaNumber },
  { header: 'Status', value: ({ status }) => describeStatus(status).label },
  { header: 'Trade order number', value: ({ tradeOrderNumber }) => tradeOrderNumber },
  { header: 'Order date', value: ({ orderDate }) => orderDate },
  { header: 'Company', value: ({ companyName }) => companyName },
  { header: 'Company id', value: ({ companyId }) => companyId },
  { header: 'Contact', value: ({ customerName }) => customerName },
  { header: 'Email', value: ({ customerEmail }) => customerEmail },
  { header: 'Phone', value: ({ customerPhone }) => customerPhone },
  { header: 'Assigned to', value: ({ assignee }) => assignee?.name ?? null },
  { header: 'Due', value: ({ dueAt }) => dueAt && csvTime(dueAt) },
  { header: 'Reason', value: ({ reason }) => reason },
  {
    header: 'Items',
    value: ({ items }) =>
      items
        .map(({ quantity, sku, productName, price }) => `${quantity} x ${sku} ${productName} at ${price}`)
        .join('; '),
  },
  { header: 'Lines', value: ({ items }) => items.length },
  { header: 'Total', value: ({ declaredAmount }) => declaredAmount },
  { header: 'Credit', value: ({ creditAmount }) => creditAmount },
  { header: 'Street', value: ({ shippingAddress }) => shippingAddress.street },
  { header: 'Suburb', value: ({ shippingAddress }) => shippingAddress.suburb },
  { header: 'State', value: ({ shippingAddress }) => shippingAddress.state },
  { header: 'Postcode', value: ({ shippingAddress }) => shippingAddress.postcode },
  { header: 'Fault', value: ({ faultDescription }) => faultDescription },
  { header: 'Customer notes', value: ({ customerNotes }) => customerNotes },
  { header: 'Comment', value: ({ additionalComment }) => additionalComment },
  { header: 'Your reference', value: ({ externalRef }) => externalRef },
  { header: 'Source system', value: ({ externalSource }) => externalSource },
  { header: 'Created', value: ({ createdAt }) => csvTime(createdAt) },
  { header: 'Last change', value: ({ updatedAt }) => csvTime(updatedAt) },
  { header: 'Id', value: ({ id }) => id },
];

export const TradeReturnsPage = () => (
  <ReturnsList<AdminTradeReturn> kind={TRADE_RETURNS} columns={COLUMNS} csv={CSV} moves={TRADE_MOVES} />
);
