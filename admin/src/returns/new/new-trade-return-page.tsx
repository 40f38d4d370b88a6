import { Button, Fieldset, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { Plus, Trash2 } from 'lucide-react';
import { CreateTradeReturn } from '../../../../contract/trade-return.ts';
import { TRADE_RETURNS } from '../kinds.ts';
import { formatAmount, totalOf } from '../numbers.ts';
import { DecimalInput, FormSection, FULL_WIDTH, GrowingTextarea, ReferenceInputs } from './form-inputs.tsx';
import { NewReturnForm } from './new-return-form.tsx';
import { numberOf, optionalNumberOf } from './read-number.ts';

const EMPTY_ITEM = {
  sku: '',
  productName: '',
  quantity: '1',
  price: '',
  variantTitle: '',
  weight: '',
  tradeLineItemId: '',
} satisfies Record<keyof CreateTradeReturn['items'][number], unknown>;

const EMPTY = {
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
        <ReferenceInputs input={input} />
      </FormSection>
    </>
  );
};

/** Nothing while it is empty, cannot be read or can be read in two ways. */
const amountOf = (typed: string): number => {
  const value = numberOf(typed);
  return typeof value === 'number' ? value : 0;
};

const TradeItemInputs = ({ form }: { form: UseFormReturnType<Values> }) => {
  const { items } = form.values;
  const numbers = items.map(({ quantity, price }) => ({
    quantity: amountOf(quantity),
    price: amountOf(price),
  }));
  return (
    <Stack gap="sm">
      {items.map((_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an item is identified by its position
        <Fieldset key={index} legend={`Item ${index + 1}`}>
          <ItemInputs input={(field) => form.getInputProps(`items.${index}.${field}`)} />
          {items.length > 1 ? (
            <Group justify="flex-end" mt="xs">
              <Button
                variant="subtle"
                size="xs"
                leftSection={<Trash2 size={14} aria-hidden />}
                onClick={() => form.removeListItem('items', index)}
                aria-label={`Remove item ${index + 1}`}
              >
                Remove
              </Button>
            </Group>
          ) : null}
        </Fieldset>
      ))}
      <Group justify="space-between">
        <Button
          variant="default"
          size="xs"
          leftSection={<Plus size={14} aria-hidden />}
          onClick={() => form.insertListItem('items', EMPTY_ITEM)}
        >
          Add an item
        </Button>
        <Text size="sm" className="tabular-numbers">
          Total {formatAmount(totalOf(numbers))}
        </Text>
      </Group>
    </Stack>
  );
};

const ItemInputs = ({ input }: { input(field: keyof typeof EMPTY_ITEM): object }) => (
  <>
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm" verticalSpacing="sm">
      <TextInput label="SKU" required {...input('sku')} />
      <TextInput label="Product" required {...input('productName')} />
    </SimpleGrid>
    <SimpleGrid cols={{ base: 2, xs: 3, md: 5 }} spacing="sm" verticalSpacing="sm" mt="sm">
      <DecimalInput label="Quantity" required {...input('quantity')} />
      <DecimalInput label="Price of one" required {...input('price')} />
      <TextInput label="Variant" {...input('variantTitle')} />
      <DecimalInput label="Weight" {...input('weight')} />
      <TextInput label="Order line" {...input('tradeLineItemId')} />
    </SimpleGrid>
  </>
);
