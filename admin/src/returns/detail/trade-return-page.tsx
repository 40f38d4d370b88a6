import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Building2, MapPin, Package, PackageCheck, UserRound } from 'lucide-react';
import type { AdminTradeReturn as TradeReturn } from '../../../../contract/admin-returns.ts';
import { useBlocked } from '../../session/blocked.tsx';
import { OrErased } from '../../ui/two-lines.tsx';
import { addressLines, TRADE_RETURNS } from '../kinds.ts';
import { TRADE_MOVES } from '../moves/moves.ts';
import { piecesOf, useMoney } from '../numbers.ts';
import { EmailLink, Facts, FoldedText, PhoneLink, Quiet, type SummaryPart } from './facts.tsx';
import { ReturnDetail } from './return-detail.tsx';
import { TradeItems } from './trade-items.tsx';

const route = getRouteApi('/inside/trade-returns/$id');

export const TradeReturnPage = () => {
  const { id } = route.useParams();
  const navigate = useNavigate();
  const { changing } = useBlocked();
  const correctReceipt = {
    label: 'Correct what arrived',
    icon: <PackageCheck size={14} aria-hidden />,
    blocked: changing,
    run: () => void navigate({ to: '/trade-returns/$id/receive', params: { id } }),
  };
  return (
    <ReturnDetail<TradeReturn>
      key={id}
      kind={TRADE_RETURNS}
      id={id}
      moves={TRADE_MOVES}
      summary={summaryOf}
      more={({ status }) => (status === 'TRADE_RECEIVED' ? [correctReceipt] : [])}
      facts={(tradeReturn) => <TradeFacts tradeReturn={tradeReturn} />}
    />
  );
};

const summaryOf = (tradeReturn: TradeReturn): SummaryPart[] => {
  const { items, customerPhone } = tradeReturn;
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
      lines: [piecesOf(items), <Worth key="worth" tradeReturn={tradeReturn} />],
    },
    {
      label: 'Goods come from',
      icon: MapPin,
      lines: addressLines(tradeReturn).map((line) => <OrErased key={line}>{line}</OrErased>),
    },
  ];
};

const Worth = ({ tradeReturn: { declaredAmount, creditAmount } }: { tradeReturn: TradeReturn }) => {
  const money = useMoney();
  return creditAmount === null
    ? money(declaredAmount)
    : `Credit ${money(creditAmount)} of ${money(declaredAmount)}`;
};

const folded = (text: string | null) => text && <FoldedText>{text}</FoldedText>;

const TradeFacts = ({ tradeReturn }: { tradeReturn: TradeReturn }) => (
  <>
    <Facts
      title="Why"
      facts={[
        ['Reason', folded(tradeReturn.reason)],
        ['Fault', folded(tradeReturn.faultDescription)],
        ['Customer notes', folded(tradeReturn.customerNotes)],
        ['Comment', folded(tradeReturn.additionalComment)],
      ]}
    />
    <Facts title="Items" facts={[]}>
      <TradeItems tradeReturn={tradeReturn} />
    </Facts>
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
