import { Radio, Stack, TextInput } from '@mantine/core';
import type { GetInputProps } from '@mantine/form';
import { DEFAULT_START_STATUS, START_STATUSES } from '../../../../contract/lifecycle.ts';
import { CreateOfflineRepair } from '../../../../contract/offline-repair.ts';
import { describeStatus, REPAIRS } from '../kinds.ts';
import { DecimalInput, FormSection, FULL_WIDTH, GrowingTextarea, ReferenceInputs } from './form-inputs.tsx';
import { NewReturnForm } from './new-return-form.tsx';
import { numberOf, optionalNumberOf } from './read-number.ts';

const EMPTY = {
  orderNumber: '',
  customerEmail: '',
  customerName: '',
  customerPhone: '',
  faultyItem: {
    sku: '',
    productName: '',
    quantity: '1',
    price: '',
    serialNumber: '',
    variantTitle: '',
    weight: '',
  } satisfies Record<keyof CreateOfflineRepair['faultyItem'], unknown>,
  faultDescription: '',
  storeId: '',
  externalRef: '',
  externalSource: '',
  startStatus: DEFAULT_START_STATUS as string,
  replacementSku: '',
  notes: '',
  tracking: { trackingNumber: '', carrierName: '' },
} satisfies Record<keyof CreateOfflineRepair, unknown>;
type Values = typeof EMPTY;

const bodyOf = ({ faultyItem, tracking, ...rest }: Values) => ({
  ...rest,
  faultyItem: {
    ...faultyItem,
    quantity: numberOf(faultyItem.quantity),
    price: numberOf(faultyItem.price),
    weight: optionalNumberOf(faultyItem.weight),
  },
  tracking: tracking.trackingNumber.trim() || tracking.carrierName.trim() ? tracking : null,
});

const START_DESCRIPTIONS: Record<(typeof START_STATUSES)[number], string> = {
  OFFLINE_DIAGNOSTICS: 'The item is looked at first',
  COUNTER_SWAPPED: 'The customer got another one at the counter',
};

/** Remembered, because a counter stays in one store. */
const LAST_STORE = 'handback.last-store';

export const NewRepairPage = () => (
  <NewReturnForm<Values>
    kind={REPAIRS}
    schema={CreateOfflineRepair}
    initialValues={{ ...EMPTY, storeId: localStorage.getItem(LAST_STORE) ?? '' }}
    bodyOf={bodyOf}
    onCreated={({ storeId }) => localStorage.setItem(LAST_STORE, storeId.trim())}
  >
    {({ getInputProps: input }) => (
      <>
        <CustomerInputs input={input} />
        <ItemInputs input={input} />
        <FaultInputs input={input} />
        <ShippingInputs input={input} />
      </>
    )}
  </NewReturnForm>
);

interface InputsProps {
  input: GetInputProps<Values>;
}

const CustomerInputs = ({ input }: InputsProps) => (
  <FormSection title="Customer and order">
    <TextInput label="Name" required autoFocus {...input('customerName')} />
    <TextInput label="E-mail" type="email" required {...input('customerEmail')} />
    <TextInput label="Phone" type="tel" {...input('customerPhone')} />
    <TextInput label="Order number" required {...input('orderNumber')} />
    <TextInput label="Store" required description="Where the item was handed in" {...input('storeId')} />
  </FormSection>
);

const ItemInputs = ({ input }: InputsProps) => (
  <FormSection title="Item">
    <TextInput label="SKU" required {...input('faultyItem.sku')} />
    <TextInput label="Product" required {...input('faultyItem.productName')} />
    <TextInput label="Variant" {...input('faultyItem.variantTitle')} />
    <TextInput label="Serial number" {...input('faultyItem.serialNumber')} />
    <DecimalInput label="Quantity" required {...input('faultyItem.quantity')} />
    <DecimalInput label="Price of one" required {...input('faultyItem.price')} />
    <DecimalInput label="Weight" {...input('faultyItem.weight')} />
  </FormSection>
);

const FaultInputs = ({ input }: InputsProps) => (
  <FormSection title="Fault">
    <GrowingTextarea
      label="What is wrong"
      required
      minRows={2}
      {...FULL_WIDTH}
      {...input('faultDescription')}
    />
    <GrowingTextarea label="Notes" description="For your colleagues" {...FULL_WIDTH} {...input('notes')} />
    <Radio.Group label="It begins as" {...FULL_WIDTH} {...input('startStatus')}>
      <Stack gap="xs" mt={6}>
        {[...START_STATUSES].reverse().map((status) => (
          <Radio
            key={status}
            value={status}
            label={describeStatus(status).label}
            description={START_DESCRIPTIONS[status]}
          />
        ))}
      </Stack>
    </Radio.Group>
    <TextInput
      label="Replacement SKU"
      description="What was handed over instead"
      {...input('replacementSku')}
    />
  </FormSection>
);

const ShippingInputs = ({ input }: InputsProps) => (
  <FormSection title="Shipping and references">
    <TextInput label="Tracking number" {...input('tracking.trackingNumber')} />
    <TextInput label="Carrier" {...input('tracking.carrierName')} />
    <ReferenceInputs input={input} />
  </FormSection>
);
