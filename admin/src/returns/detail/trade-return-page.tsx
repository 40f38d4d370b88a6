import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { PackageCheck } from 'lucide-react';
import type { AdminTradeReturn as TradeReturn } from '../../../../contract/admin-returns.ts';
import { useBlocked } from '../../session/blocked.tsx';
import { texts } from '../../texts.ts';
import { OrErased } from '../../ui/two-lines.tsx';
import { addressLines, TRADE_RETURNS } from '../kinds.ts';
import { TRADE_MOVES } from '../moves/moves.ts';
import { piecesOf, useMoney } from '../numbers.ts';
import { Code, EmailLink, Facts, folded, ifCut, PhoneLink, type SummaryPart } from './facts.tsx';
import { ReturnDetail } from './return-detail.tsx';
import { TradeItems } from './trade-items.tsx';

const words = texts.detail;
const route = getRouteApi('/inside/trade-returns/$id');

export const TradeReturnPage = () => {
  const { id } = route.useParams();
  const navigate = useNavigate();
  const blocked = useBlocked();
  const correctReceipt = {
    label: words.correctReceipt,
    icon: <PackageCheck size={14} />,
    blocked,
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

const summaryOf = (tradeReturn: TradeReturn): SummaryPart[] => [
  { label: words.reason, isMain: true, lead: tradeReturn.reason },
  {
    label: words.company,
    lead: tradeReturn.companyName,
    lines: [<OrErased key="name">{tradeReturn.customerName}</OrErased>],
  },
  {
    label: words.items,
    lead: piecesOf(tradeReturn.items),
    lines: [<Worth key="worth" tradeReturn={tradeReturn} />],
  },
];

const Worth = ({ tradeReturn: { declaredAmount, creditAmount } }: { tradeReturn: TradeReturn }) => {
  const money = useMoney();
  return creditAmount === null
    ? words.declaredWorth(money(declaredAmount))
    : words.creditWorth(money(creditAmount), money(declaredAmount));
};

const TradeFacts = ({ tradeReturn }: { tradeReturn: TradeReturn }) => {
  const { customerPhone } = tradeReturn;
  return (
    <>
      <Facts
        title={words.notes}
        facts={[
          [words.fault, folded(tradeReturn.faultDescription)],
          [words.customerNotes, folded(tradeReturn.customerNotes)],
          [words.comment, folded(tradeReturn.additionalComment)],
        ]}
      />
      <Facts title={words.items}>
        <TradeItems tradeReturn={tradeReturn} isFolded />
      </Facts>
      <Facts
        title={words.companyAndContact}
        facts={[
          [words.company, ifCut(tradeReturn.companyName)],
          [words.companyId, <Code key="id">{tradeReturn.companyId}</Code>],
          [words.contact, <OrErased key="name">{tradeReturn.customerName}</OrErased>],
          [words.phone, customerPhone && <PhoneLink number={customerPhone} />],
          [words.email, <EmailLink key="email" address={tradeReturn.customerEmail} />],
          [
            words.sentFrom,
            addressLines(tradeReturn).map((line) => (
              <div key={line}>
                <OrErased>{line}</OrErased>
              </div>
            )),
          ],
        ]}
      />
      <Facts
        title={words.order}
        facts={[
          [words.tradeOrder, <Code key="order">{tradeReturn.tradeOrderNumber}</Code>],
          [words.orderDate, tradeReturn.orderDate],
          [words.reference, tradeReturn.externalRef],
          [words.sourceSystem, tradeReturn.externalSource],
        ]}
      />
    </>
  );
};
