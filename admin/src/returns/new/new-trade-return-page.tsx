import { TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { CreateTradeReturn } from '../../../../contract/trade-return.ts';
import { TRADE_RETURNS } from '../kinds.ts';
import { FormSection, FULL_WIDTH, GrowingTextarea } from './form-inputs.tsx';
import { NewReturnForm } from './new-return-form.tsx';
import { TradeItemInputs } from './trade-item-inputs.tsx';
import { bodyOf, EMPTY, type Values } from './trade-return-values.ts';

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
      <TradeItemInputs form={form} />
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
        <TextInput
          label="Your reference"
          description="Its number in your own system"
          {...input('externalRef')}
        />
        <TextInput
          label="Source system"
          description="Which of your systems that is"
          {...input('externalSource')}
        />
      </FormSection>
    </>
  );
};
