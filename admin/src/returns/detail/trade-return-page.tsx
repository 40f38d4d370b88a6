import { getRouteApi } from '@tanstack/react-router';
import type { AdminTradeReturn as TradeReturn } from '../../../../contract/admin-returns.ts';
import { TRADE_RETURNS } from '../kinds.ts';
import { TRADE_MOVES } from '../moves/moves.ts';
import { EmailLink, PhoneLink } from './contact-links.tsx';
import { Facts } from './facts.tsx';
import { ReturnDetail } from './return-detail.tsx';
import { Slip } from './slip.tsx';
import { SlipItems, TradeItems } from './trade-items.tsx';

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
      <TradeItems items={tradeReturn.items} />
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
    <SlipItems items={tradeReturn.items} />
  </Slip>
);
