import { Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { AdminTradeReturn } from '../../../../contract/admin-returns.ts';
import { CreateTradeReturn } from '../../../../contract/trade-return.ts';
import { texts } from '../../texts.ts';
import { TRADE_RETURNS } from '../kinds.ts';
import {
  FormSection,
  FULL_WIDTH,
  MoreFields,
  ReferenceInputs,
  ROW_ON_PHONE,
  typedPrice,
  useCurrency,
} from './form-inputs.tsx';
import styles from './intake.module.css';
import { type Known, knownCompanies, looksLike } from './known.ts';
import { LookUp } from './look-up.tsx';
import { NewReturnForm } from './new-return-form.tsx';
import { EMPTY_LINE } from './paste-lines.ts';
import { numberOf, optionalNumberOf } from './read-number.ts';
import { TradeLineInputs } from './trade-lines.tsx';

const words = texts.intake;

const EMPTY = {
  tradeOrderNumber: '',
  customerEmail: '',
  customerName: '',
  companyName: '',
  companyId: '',
  reason: '',
  items: [EMPTY_LINE],
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
type Values = typeof EMPTY;
type TradeForm = UseFormReturnType<Values>;

const bodyOf = ({ items, orderDate, ...rest }: Values, decimals: number) => ({
  ...rest,
  orderDate: orderDate === '' ? null : orderDate,
  items: items.map((item) => ({
    ...item,
    quantity: numberOf(item.quantity),
    price: numberOf(item.price, decimals),
    weight: optionalNumberOf(item.weight),
  })),
});

const initialValues = (): Values => EMPTY;

export const NewTradeReturnPage = () => {
  const { decimals } = useCurrency();
  return (
    <NewReturnForm<Values>
      kind={TRADE_RETURNS}
      schema={CreateTradeReturn}
      initialValues={initialValues}
      bodyOf={(values) => bodyOf(values, decimals)}
    >
      {(form) => <Inputs form={form} />}
    </NewReturnForm>
  );
};

const Inputs = ({ form }: { form: TradeForm }) => (
  <>
    <CompanyLookUp form={form} />
    <div className={styles['columns']}>
      <CompanyInputs form={form} />
      <AddressInputs form={form} />
    </div>
    <TradeLineInputs form={form as never} />
    <Textarea label={words.reason} required minRows={2} {...form.getInputProps('reason')} />
    <RareInputs form={form} />
  </>
);

/** An order fills in its lines too, as they were returned last. */
const linesOf = ({ items }: AdminTradeReturn, decimals: number): Values['items'] =>
  items.map(({ sku, productName, quantity, price, variantTitle, weight, tradeLineItemId }) => ({
    sku,
    productName,
    quantity: String(quantity),
    price: typedPrice(price, decimals),
    variantTitle: variantTitle ?? '',
    weight: weight === null ? '' : String(weight),
    tradeLineItemId: tradeLineItemId ?? '',
  }));

const CompanyLookUp = ({ form }: { form: TradeForm }) => {
  const { decimals } = useCurrency();
  const pick = ({ item, fills }: Known<AdminTradeReturn>) => {
    form.setFieldValue('companyName', item.companyName);
    form.setFieldValue('companyId', item.companyId);
    form.setFieldValue('customerName', item.customerName);
    form.setFieldValue('customerEmail', item.customerEmail);
    form.setFieldValue('customerPhone', item.customerPhone ?? '');
    form.setFieldValue('shippingAddress', item.shippingAddress);
    if (fills === 'item') {
      form.setFieldValue('tradeOrderNumber', item.tradeOrderNumber);
      form.setFieldValue('orderDate', item.orderDate ?? '');
      form.setFieldValue('items', linesOf(item, decimals));
    }
    form.getInputNode(fills === 'item' ? 'reason' : 'tradeOrderNumber')?.focus();
  };
  const startNew = (typed: string) => {
    const field = { email: 'customerEmail', phone: 'customerPhone', other: 'companyName' } as const;
    form.setFieldValue(field[looksLike(typed)], typed);
    form.getInputNode(looksLike(typed) === 'other' ? 'companyId' : 'companyName')?.focus();
  };
  return (
    <LookUp
      kind={TRADE_RETURNS}
      label={words.lookUpTrade}
      hint={words.lookUpHint}
      knownOf={knownCompanies}
      onPick={pick}
      onUnknown={startNew}
    />
  );
};

const CompanyInputs = ({ form: { getInputProps: input } }: { form: TradeForm }) => (
  <FormSection title={words.company}>
    <TextInput label={words.company} required {...ROW_ON_PHONE} {...input('companyName')} />
    <TextInput label={words.companyId} required {...input('companyId')} />
    <TextInput label={words.contact} required {...input('customerName')} />
    <TextInput label={words.email} type="email" required {...ROW_ON_PHONE} {...input('customerEmail')} />
    <TextInput label={words.phone} type="tel" {...input('customerPhone')} />
    <TextInput label={words.tradeOrder} required {...input('tradeOrderNumber')} />
  </FormSection>
);

const AddressInputs = ({ form: { getInputProps: input } }: { form: TradeForm }) => (
  <FormSection title={words.sentFrom}>
    <TextInput label={words.street} required {...FULL_WIDTH} {...input('shippingAddress.street')} />
    <TextInput label={words.suburb} required {...FULL_WIDTH} {...input('shippingAddress.suburb')} />
    <TextInput label={words.state} required {...input('shippingAddress.state')} />
    <TextInput label={words.postcode} required {...input('shippingAddress.postcode')} />
  </FormSection>
);

const RARE = ['orderDate', 'faultDescription', 'customerNotes', 'additionalComment', 'external'] as const;

const RareInputs = ({ form }: { form: TradeForm }) => (
  <MoreFields form={form} fields={RARE}>
    <Textarea label={words.fault} {...form.getInputProps('faultDescription')} />
    <Textarea label={words.customerNotes} {...form.getInputProps('customerNotes')} />
    <Textarea label={words.comment} {...FULL_WIDTH} {...form.getInputProps('additionalComment')} />
    <TextInput label={words.orderDate} type="date" {...FULL_WIDTH} {...form.getInputProps('orderDate')} />
    <ReferenceInputs input={form.getInputProps} />
  </MoreFields>
);
