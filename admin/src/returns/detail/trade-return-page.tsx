import { getRouteApi } from '@tanstack/react-router';
import { Building2, MapPin, Package, UserRound } from 'lucide-react';
import type { AdminTradeReturn as TradeReturn } from '../../../../contract/admin-returns.ts';
import { TRADE_RETURNS } from '../kinds.ts';
import { TRADE_MOVES } from '../moves/moves.ts';
import { totalOf } from '../numbers.ts';
import { useMoney } from '../use-money.ts';
import { EmailLink, PhoneLink } from './contact-links.tsx';
import { Facts } from './facts.tsx';
import { FoldedText } from './folded-text.tsx';
import { ReturnDetail } from './return-detail.tsx';
import { Lead, Line, type SummaryPart } from './summary.tsx';
import { TradeItems } from './trade-items.tsx';

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
  const { street, suburb, state, postcode } = tradeReturn.shippingAddress;
  return [
    {
      label: 'Company',
      icon: Building2,
      children: (
        <>
          <Lead>{tradeReturn.companyName}</Lead>
          <Line quiet>{tradeReturn.companyId}</Line>
        </>
      ),
    },
    {
      label: 'Contact',
      icon: UserRound,
      children: (
        <>
          <Lead>{tradeReturn.customerName}</Lead>
          <Line>{tradeReturn.customerPhone && <PhoneLink number={tradeReturn.customerPhone} />}</Line>
          <Line>
            <EmailLink address={tradeReturn.customerEmail} />
          </Line>
        </>
      ),
    },
    {
      label: 'Items',
      icon: Package,
      children: (
        <>
          <Lead>{tradeReturn.items[0]?.productName ?? ''}</Lead>
          <Line>{tradeReturn.items.length > 1 ? `and ${tradeReturn.items.length - 1} more` : null}</Line>
          <Line>
            <Worth items={tradeReturn.items} />
          </Line>
        </>
      ),
    },
    {
      label: 'Goods come from',
      icon: MapPin,
      children: (
        <>
          <Line>{street}</Line>
          <Line>{`${suburb} ${state} ${postcode}`}</Line>
        </>
      ),
    },
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
