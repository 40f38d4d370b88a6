import { ActionIcon, Box, Button, Group, Text, TextInput, VisuallyHidden } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { Plus, Trash2 } from 'lucide-react';
import { type ClipboardEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { texts } from '../../texts.ts';
import { Section } from '../../ui/page-frame.tsx';
import { columnClass, type PlainColumn, PlainTable, TableFrame } from '../../ui/plain-table.tsx';
import { Hint } from '../../ui/two-lines.tsx';
import { piecesOf, totalOf, useMoney } from '../numbers.ts';
import { DecimalInput, PriceInput, useCurrency } from './form-inputs.tsx';
import styles from './intake.module.css';
import { EMPTY_LINE, type Line, type LineField, pastedLines } from './paste-lines.ts';
import { numberOf } from './read-number.ts';

const words = texts.intake;

interface LineColumn {
  field: LineField;
  label: string;
  as?: typeof TextInput | typeof DecimalInput | typeof PriceInput;
  isRequired?: boolean;
  width: string;
}

const COLUMNS: LineColumn[] = [
  { field: 'sku', label: words.sku, isRequired: true, width: '9rem' },
  { field: 'productName', label: words.product, isRequired: true, width: 'auto' },
  { field: 'quantity', label: words.quantity, isRequired: true, as: DecimalInput, width: '6rem' },
  { field: 'price', label: words.unitPrice, isRequired: true, as: PriceInput, width: '8rem' },
];
const MORE_COLUMNS: LineColumn[] = [
  { field: 'variantTitle', label: words.variant, width: '7rem' },
  { field: 'weight', label: words.weight, as: DecimalInput, width: '6rem' },
  { field: 'tradeLineItemId', label: words.orderLine, width: '7rem' },
];

/** Nothing while it is empty, cannot be read or can be read in two ways. */
const amountOf = (typed: string, decimals?: number): number => {
  const value = numberOf(typed, decimals);
  return typeof value === 'number' ? value : 0;
};

const amountsOf = ({ quantity, price }: Line, decimals: number) => ({
  quantity: amountOf(quantity),
  price: amountOf(price, decimals),
});

type LinesForm = UseFormReturnType<{ items: Line[] }>;

/** One line per item; lines copied from a spreadsheet can be pasted into any of them. */
export const TradeLineInputs = ({ form }: { form: LinesForm }) => {
  const { items } = form.values;
  const [wanted, setWanted] = useState(false);
  const isFilled = items.some((item) => MORE_COLUMNS.some(({ field }) => item[field] !== ''));
  const money = useMoney();
  const { decimals } = useCurrency();
  const amounts = items.map((item) => amountsOf(item, decimals));
  return (
    <Section title={words.items}>
      <Box visibleFrom="xs">
        <Hint>{words.pasteHint}</Hint>
      </Box>
      <TableFrame>
        <LinesTable form={form} columns={wanted || isFilled ? [...COLUMNS, ...MORE_COLUMNS] : COLUMNS} />
      </TableFrame>
      <Group justify="space-between" mt="xs">
        <Group gap="xs">
          <Button
            variant="default"
            size="xs"
            leftSection={<Plus size={14} />}
            onClick={() => form.insertListItem('items', EMPTY_LINE)}
          >
            {words.addLine}
          </Button>
          {isFilled ? null : (
            <Button variant="subtle" color="gray" size="xs" onClick={() => setWanted(!wanted)}>
              {wanted ? words.fewerColumns : words.moreColumns}
            </Button>
          )}
        </Group>
        <Text size="sm" fw={600} className="tabular-numbers">
          {words.sum(piecesOf(amounts), money(totalOf(amounts)))}
        </Text>
      </Group>
    </Section>
  );
};

/** Enter in the last field of a line goes on to the next one, which is added where there is none. */
const useNextLine = (form: LinesForm) => {
  const lines = useRef<HTMLDivElement>(null);
  const [wanted, setWanted] = useState<number | null>(null);
  const { length } = form.values.items;
  useEffect(() => {
    if (wanted === null || wanted >= length) return;
    lines.current?.querySelectorAll('tbody tr')[wanted]?.querySelector('input')?.focus();
    setWanted(null);
  }, [wanted, length]);
  const onEnter = (event: KeyboardEvent, index: number) => {
    if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    if (index === length - 1) form.insertListItem('items', EMPTY_LINE);
    setWanted(index + 1);
  };
  return { lines, onEnter };
};

const LinesTable = ({ form, columns }: { form: LinesForm; columns: LineColumn[] }) => {
  const { items } = form.values;
  const money = useMoney();
  const { decimals } = useCurrency();
  const { lines, onEnter } = useNextLine(form);
  const paste = (event: ClipboardEvent, at: number, field: LineField) => {
    const lines = pastedLines(event.clipboardData.getData('text/plain'), field);
    if (!lines) return;
    event.preventDefault();
    const filled = lines.map((line, i) => ({ ...EMPTY_LINE, ...items[at + i], ...line }));
    form.setFieldValue('items', [...items.slice(0, at), ...filled, ...items.slice(at + lines.length)]);
  };
  const inputs = columns.map((column, at): PlainColumn<number> => {
    const { field, label, as: Input = TextInput, isRequired, width } = column;
    return {
      header: label,
      head: { style: { width } },
      className: isRequired && Input === TextInput ? columnClass('whole-row') : undefined,
      cell: (index) => (
        <Input
          size="xs"
          aria-label={words.inLine(label, index + 1)}
          aria-required={isRequired}
          onPaste={(event: ClipboardEvent) => paste(event, index, field)}
          onKeyDown={(event: KeyboardEvent) => at === columns.length - 1 && onEnter(event, index)}
          {...form.getInputProps(`items.${index}.${field}`)}
        />
      ),
    };
  });
  const total: PlainColumn<number> = {
    header: words.total,
    className: columnClass('number'),
    cell: (index) => (
      <span className={styles['line-total']}>
        {money(totalOf([amountsOf(items[index] ?? EMPTY_LINE, decimals)]))}
      </span>
    ),
  };
  const remove: PlainColumn<number> = {
    key: words.remove,
    header: <VisuallyHidden>{words.remove}</VisuallyHidden>,
    head: { style: { width: '2.5rem' } },
    cell: (index) => (
      <ActionIcon
        variant="subtle"
        color="gray"
        disabled={items.length === 1}
        onClick={() => form.removeListItem('items', index)}
        aria-label={words.removeLine(index + 1)}
      >
        <Trash2 />
      </ActionIcon>
    ),
  };
  return (
    <div ref={lines}>
      <PlainTable
        stacked
        className={styles['lines']}
        rowProps={(index) => ({ className: styles['line'] ?? '', ...{ 'data-line': words.line(index + 1) } })}
        rows={items.map((_, index) => index)}
        keyOf={(index) => index}
        columns={[...inputs, total, remove]}
      />
    </div>
  );
};
