import type { CreateTradeReturn } from '../../../../contract/trade-return.ts';
import { numberOf, optionalNumberOf } from './read-number.ts';

export const EMPTY_ITEM = {
  sku: '',
  productName: '',
  quantity: '1',
  price: '',
  variantTitle: '',
  weight: '',
  tradeLineItemId: '',
} satisfies Record<keyof CreateTradeReturn['items'][number], unknown>;

/** The inputs at the start. */
export const EMPTY = {
  tradeOrderNumber: '',
  customerEmail: '',
  customerName: '',
  companyName: '',
  companyId: '',
  reason: '',
  items: [EMPTY_ITEM],
  shippingAddress: { street: '', suburb: '', state: '', postcode: '' } satisfies Record<
    keyof CreateTradeReturn['shippingAddress'],
    unknown
  >,
  customerPhone: '',
  orderDate: '',
  customerNotes: '',
  faultDescription: '',
  additionalComment: '',
  externalRef: '',
  externalSource: '',
} satisfies Record<keyof CreateTradeReturn, unknown>;
export type Values = typeof EMPTY;

export const bodyOf = ({ items, orderDate, ...rest }: Values) => ({
  ...rest,
  orderDate: orderDate === '' ? null : orderDate,
  items: items.map((item) => ({
    ...item,
    quantity: numberOf(item.quantity),
    price: numberOf(item.price),
    weight: optionalNumberOf(item.weight),
  })),
});
