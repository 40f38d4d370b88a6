import { Button, Fieldset, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { Plus, Trash2 } from 'lucide-react';
import { formatAmount, totalOf } from '../numbers.ts';
import { DecimalInput } from './form-inputs.tsx';
import { numberOf } from './read-number.ts';
import { EMPTY_ITEM, type Values } from './trade-return-values.ts';

/** Nothing while it is empty, cannot be read or can be read in two ways. */
const amountOf = (typed: string): number => {
  const value = numberOf(typed);
  return typeof value === 'number' ? value : 0;
};

/** The items of a trade return, and buttons to add and remove some. */
export const TradeItemInputs = ({ form }: { form: UseFormReturnType<Values> }) => {
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
