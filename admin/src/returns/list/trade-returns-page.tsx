import { Text } from '@mantine/core';
import type { AdminTradeReturn } from '../../../../contract/admin-returns.ts';
import { OrErased, TwoLines } from '../../ui/two-lines.tsx';
import { describeStatus, TRADE_RETURNS } from '../kinds.ts';
import { TRADE_MOVES } from '../moves/moves.ts';
import { formatAmount, piecesOf } from '../numbers.ts';
import { type CsvColumn, csvTime } from './csv.ts';
import { ReturnsList } from './returns-list.tsx';
import type { ReturnColumn } from './returns-table.tsx';

const Amount = ({ item: { declaredAmount, creditAmount } }: { item: AdminTradeReturn }) => (
  <TwoLines
    first={formatAmount(declaredAmount)}
    second={creditAmount === null ? undefined : `Credit ${formatAmount(creditAmount)}`}
  />
);

const COLUMNS: ReturnColumn<AdminTradeReturn>[] = [
  {
    header: 'Company',
    noLabel: true,
    cell: ({ companyName, customerName }) => <TwoLines first={companyName} second={customerName} />,
  },
  {
    header: 'Items',
    width: '11rem',
    noLabel: true,
    cell: ({ items }) => <TwoLines first={piecesOf(items)} second={items[0]?.productName} />,
  },
  {
    header: 'Total',
    width: '8rem',
    isNumber: true,
    cell: (item) => <Amount item={item} />,
  },
  {
    header: 'Order',
    width: '7.5rem',
    wideOnly: 'widest',
    cell: ({ tradeOrderNumber }) => <TwoLines first={tradeOrderNumber} />,
  },
  {
    header: 'Reason',
    wideOnly: 'widest',
    cell: ({ reason }) => (
      <Text size="sm" lineClamp={2}>
        <OrErased>{reason}</OrErased>
      </Text>
    ),
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
  { header: 'E-mail', value: ({ customerEmail }) => customerEmail },
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
