import { ActionIcon, Button, Fieldset, Group, Text, TextInput, VisuallyHidden } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { Plus, Trash2 } from 'lucide-react';
import { type ClipboardEvent, useState } from 'react';
import { columnClass, type PlainColumn, PlainTable, TableFrame } from '../../ui/plain-table.tsx';
import { Hint } from '../../ui/two-lines.tsx';
import { formatAmount, piecesOf, totalOf } from '../numbers.ts';
import { DecimalInput } from './form-inputs.tsx';
import { EMPTY_LINE, type Line, type LineField, pastedLines } from './paste-lines.ts';
import { numberOf } from './read-number.ts';

interface LineColumn {
  field: LineField;
  label: string;
  isNumber?: boolean;
  isRequired?: boolean;
  width: string;
}

const COLUMNS: LineColumn[] = [
  { field: 'sku', label: 'SKU', isRequired: true, width: '9rem' },
  { field: 'productName', label: 'Product', isRequired: true, width: 'auto' },
  { field: 'quantity', label: 'Quantity', isRequired: true, isNumber: true, width: '6rem' },
  { field: 'price', label: 'Unit price', isRequired: true, isNumber: true, width: '7rem' },
];
const MORE_COLUMNS: LineColumn[] = [
  { field: 'variantTitle', label: 'Variant', width: '7rem' },
  { field: 'weight', label: 'Weight', isNumber: true, width: '6rem' },
  { field: 'tradeLineItemId', label: 'Order line', width: '7rem' },
];

/** Nothing while it is empty, cannot be read or can be read in two ways. */
const amountOf = (typed: string): number => {
  const value = numberOf(typed);
  return typeof value === 'number' ? value : 0;
};

const amountsOf = ({ quantity, price }: Line) => ({ quantity: amountOf(quantity), price: amountOf(price) });

type LinesForm = UseFormReturnType<{ items: Line[] }>;

/** One line per item; lines copied from a spreadsheet can be pasted into any of them. */
export const TradeLineInputs = ({ form }: { form: LinesForm }) => {
  const { items } = form.values;
  const [wanted, setWanted] = useState(false);
  const isFilled = items.some((item) => MORE_COLUMNS.some(({ field }) => item[field] !== ''));
  return (
    <Fieldset legend="Items">
      <Hint>
        Lines copied from a spreadsheet can be pasted into the first field, with or without headers.
      </Hint>
      <TableFrame>
        <LinesTable form={form} columns={wanted || isFilled ? [...COLUMNS, ...MORE_COLUMNS] : COLUMNS} />
      </TableFrame>
      <Group justify="space-between" mt="xs">
        <Group gap="xs">
          <Button
            variant="default"
            size="xs"
            leftSection={<Plus size={14} aria-hidden />}
            onClick={() => form.insertListItem('items', EMPTY_LINE)}
          >
            Add a line
          </Button>
          {isFilled ? null : (
            <Button variant="subtle" size="xs" onClick={() => setWanted(!wanted)}>
              {wanted ? 'Fewer columns' : 'Variant, weight, order line'}
            </Button>
          )}
        </Group>
        <Text size="sm" className="tabular-numbers">
          {piecesOf(items.map(amountsOf))}, total {formatAmount(totalOf(items.map(amountsOf)))}
        </Text>
      </Group>
    </Fieldset>
  );
};

const LinesTable = ({ form, columns }: { form: LinesForm; columns: LineColumn[] }) => {
  const { items } = form.values;
  const paste = (event: ClipboardEvent, at: number, field: LineField) => {
    const lines = pastedLines(event.clipboardData.getData('text/plain'), field);
    if (!lines) return;
    event.preventDefault();
    const filled = lines.map((line, i) => ({ ...EMPTY_LINE, ...items[at + i], ...line }));
    form.setFieldValue('items', [...items.slice(0, at), ...filled, ...items.slice(at + lines.length)]);
  };
  const inputs = columns.map(({ field, label, isNumber, isRequired, width }): PlainColumn<number> => {
    const Input = isNumber ? DecimalInput : TextInput;
    return {
      header: label,
      head: { style: { width } },
      className: isRequired && !isNumber ? columnClass('whole-row') : undefined,
      cell: (index) => (
        <Input
          size="xs"
          aria-label={`${label}, line ${index + 1}`}
          aria-required={isRequired}
          onPaste={(event) => paste(event, index, field)}
          {...form.getInputProps(`items.${index}.${field}`)}
        />
      ),
    };
  });
  const total: PlainColumn<number> = {
    header: 'Total',
    className: columnClass('number'),
    cell: (index) => formatAmount(totalOf([amountsOf(items[index] ?? EMPTY_LINE)])),
  };
  const remove: PlainColumn<number> = {
    key: 'Remove',
    header: <VisuallyHidden>Remove</VisuallyHidden>,
    head: { style: { width: '2.5rem' } },
    cell: (index) => (
      <ActionIcon
        variant="subtle"
        color="gray"
        disabled={items.length === 1}
        onClick={() => form.removeListItem('items', index)}
        aria-label={`Remove line ${index + 1}`}
      >
        <Trash2 size={16} aria-hidden />
      </ActionIcon>
    ),
  };
  return (
    <PlainTable
      stacked
      rows={items.map((_, index) => index)}
      keyOf={(index) => index}
      columns={[...inputs, total, remove]}
    />
  );
};
