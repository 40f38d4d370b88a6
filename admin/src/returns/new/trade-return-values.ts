import type { CreateTradeReturn } from '../../../../contract/trade-return.ts';
import { numberOf, optionalNumberOf } from './form-inputs.tsx';

export const EMPTY_ITEM = {
  sku: '',
  productName: '',
  quantity: 1 as number | string,
  price: '' as number | string,
  variantTitle: '',
  weight: '' as number | string,
  tradeLineItemId: '',
} satisfies Record<keyof CreateTradeReturn['items'][number], unknown>;

/** The inputs at the start. A number input holds an empty text until something is typed. */
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
