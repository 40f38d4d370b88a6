import { TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { CreateTradeReturn } from '../../../../contract/trade-return.ts';
import { TRADE_RETURNS } from '../kinds.ts';
import { FormSection, FULL_WIDTH, GrowingTextarea, ReferenceInputs } from './form-inputs.tsx';
import { NewReturnForm } from './new-return-form.tsx';
import { EMPTY_LINE } from './paste-lines.ts';
import { numberOf, optionalNumberOf } from './read-number.ts';
import { TradeLineInputs } from './trade-lines.tsx';

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

const bodyOf = ({ items, orderDate, ...rest }: Values) => ({
  ...rest,
  orderDate: orderDate === '' ? null : orderDate,
  items: items.map((item) => ({
    ...item,
    quantity: numberOf(item.quantity),
    price: numberOf(item.price),
    weight: optionalNumberOf(item.weight),
  })),
});

export const NewTradeReturnPage = () => (
  <NewReturnForm<Values>
    kind={TRADE_RETURNS}
    schema={CreateTradeReturn}
    initialValues={EMPTY}
    bodyOf={bodyOf}
  >
    {(form) => <Inputs form={form} />}
  </NewReturnForm>
);

const Inputs = ({ form }: { form: UseFormReturnType<Values> }) => {
  const input = form.getInputProps;
  return (
    <>
      <FormSection title="Company and order">
        <TextInput label="Company" required autoFocus {...input('companyName')} />
        <TextInput label="Company id" required {...input('companyId')} />
        <TextInput label="Contact" required {...input('customerName')} />
        <TextInput label="E-mail" type="email" required {...input('customerEmail')} />
        <TextInput label="Phone" type="tel" {...input('customerPhone')} />
        <TextInput label="Trade order number" required {...input('tradeOrderNumber')} />
        <TextInput label="Order date" type="date" {...input('orderDate')} />
      </FormSection>
      <TradeLineInputs form={form as never} />
      <FormSection title="Reason">
        <GrowingTextarea label="Reason" required {...FULL_WIDTH} {...input('reason')} />
        <GrowingTextarea label="Fault" {...input('faultDescription')} />
        <GrowingTextarea label="What the customer says" {...input('customerNotes')} />
        <GrowingTextarea label="Comment" {...FULL_WIDTH} {...input('additionalComment')} />
      </FormSection>
      <FormSection title="Where the goods come from">
        <TextInput label="Street" required {...input('shippingAddress.street')} />
        <TextInput label="Suburb" required {...input('shippingAddress.suburb')} />
        <TextInput label="State" required {...input('shippingAddress.state')} />
        <TextInput label="Postcode" required {...input('shippingAddress.postcode')} />
      </FormSection>
      <FormSection title="References">
        <ReferenceInputs input={input} />
      </FormSection>
    </>
  );
};
