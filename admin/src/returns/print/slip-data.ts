import type { OfflineRepair } from '../../../../contract/offline-repair.ts';
import type { TradeReturn } from '../../../../contract/trade-return.ts';
import type { SlipData } from '../../ui/slip/slip.tsx';
import type { AnyReturn } from '../kinds.ts';
import { formatNumber } from '../numbers.ts';

const ofRepair = (repair: OfflineRepair): Omit<SlipData, 'rmaNumber' | 'createdAt'> => {
  const { faultyItem: item } = repair;
  const subject = `${item.quantity === 1 ? '' : `${formatNumber(item.quantity)} × `}${item.productName}`;
  return {
    heading: 'Repair',
    warning: repair.isDangerous ? 'Dangerous goods' : null,
    customer: repair.customerName,
    subject,
    fault: repair.faultDescription,
    facts: [
      ['Customer', [repair.customerName, repair.customerPhone].filter(Boolean).join('\n')],
      ['E-mail', repair.customerEmail],
      ['Order', repair.orderNumber],
      ['Store', repair.storeId],
      ['Item', [subject, item.variantTitle].filter(Boolean).join('\n')],
      ['SKU', item.sku],
      ['Serial number', item.serialNumber],
      ['Fault', repair.faultDescription],
      ['Notes', repair.notes],
      ['Handed over', repair.replacementSku],
    ],
    items: [],
  };
};

const ofTradeReturn = (tradeReturn: TradeReturn): Omit<SlipData, 'rmaNumber' | 'createdAt'> => {
  const { street, suburb, state, postcode } = tradeReturn.shippingAddress;
  const [first, ...rest] = tradeReturn.items;
  return {
    heading: 'Trade return',
    warning: null,
    customer: tradeReturn.companyName,
    subject: `${first?.productName ?? ''}${rest.length > 0 ? ` and ${rest.length} more` : ''}`,
    fault: tradeReturn.faultDescription ?? tradeReturn.reason,
    facts: [
      ['Company', `${tradeReturn.companyName} (${tradeReturn.companyId})`],
      ['Contact', [tradeReturn.customerName, tradeReturn.customerPhone].filter(Boolean).join('\n')],
      ['Trade order', tradeReturn.tradeOrderNumber],
      ['From', `${street}\n${suburb} ${state} ${postcode}`],
      ['Reason', tradeReturn.reason],
      ['Fault', tradeReturn.faultDescription],
    ],
    items: tradeReturn.items.map(({ sku, productName, variantTitle, quantity }) => ({
      sku,
      name: [productName, variantTitle].filter(Boolean).join(', '),
      quantity: formatNumber(quantity),
    })),
  };
};

export const slipOf = (item: AnyReturn): SlipData => ({
  rmaNumber: item.rmaNumber,
  createdAt: item.createdAt,
  ...('faultyItem' in item ? ofRepair(item) : ofTradeReturn(item)),
});
