import { TextInput } from '@mantine/core';
import { type FocusEvent, type RefObject, useEffect } from 'react';
import { formatNumber } from '../../format.ts';
import { texts } from '../../texts.ts';
import { columnClass, type PlainColumn, PlainTable } from '../../ui/plain-table.tsx';
import { ItemName } from '../detail/trade-items.tsx';
import { totalOf, useMoney } from '../numbers.ts';
import { type Counted, type Counts, countedOf, type Item } from './counts.ts';
import styles from './receive.module.css';

const words = texts.receive;

interface Props {
  table: RefObject<HTMLDivElement | null>;
  items: readonly Item[];
  counts: Counts;
  /** The line that was scanned last: shown, also in a long list. */
  lastLine: number | null;
  shownErrors: boolean;
  onChange(counts: Counts): void;
}

export const CountTable = ({ table, items, counts, lastLine, shownErrors, onChange }: Props) => {
  const received = counts[`received.${lastLine}`];
  // biome-ignore lint/correctness/useExhaustiveDependencies: a second scan of the same line shows it again
  useEffect(() => {
    table.current?.querySelector('[data-last]')?.scrollIntoView({ block: 'nearest' });
  }, [lastLine, received]);
  const columns = useColumns(shownErrors, (field, { line }) => ({
    value: counts[`${field}.${line}`] ?? '',
    onChange: ({ currentTarget }) => onChange({ ...counts, [`${field}.${line}`]: currentTarget.value }),
  }));
  return (
    <div ref={table}>
      <PlainTable
        stacked
        rows={items.map((item) => ({ item, counted: countedOf(counts, item) }))}
        keyOf={({ item }) => item.line}
        caption={words.caption}
        rowProps={({ item, counted }) => ({
          className: styles['line'] ?? '',
          'data-state': stateOf(item, counted),
          'data-last': item.line === lastLine || undefined,
        })}
        columns={columns}
      />
    </div>
  );
};

const FIGURE = {
  size: 'xs',
  inputMode: 'decimal',
  autoComplete: 'off',
  className: styles['figure'] ?? '',
  onFocus: ({ currentTarget }: FocusEvent<HTMLInputElement>) => currentTarget.select(),
} as const;

type ToInput = (
  field: 'received' | 'accepted' | 'note',
  item: Item,
) => { value: string; onChange(event: { currentTarget: HTMLInputElement }): void };

const useColumns = (
  shownErrors: boolean,
  input: ToInput,
): PlainColumn<{ item: Item; counted: Counted }>[] => {
  const money = useMoney();
  const className = columnClass('number');
  return [
    {
      header: texts.detail.product,
      className: columnClass('text'),
      cell: ({ item, counted }) => (
        <>
          <ItemName item={item} />
          {counted.received !== null && counted.accepted < counted.received ? (
            <TextInput
              size="xs"
              mt={4}
              placeholder={words.why}
              aria-label={words.whyOf(item.line)}
              {...input('note', item)}
            />
          ) : null}
        </>
      ),
    },
    { header: texts.detail.declared, className, cell: ({ item }) => formatNumber(item.quantity) },
    {
      header: texts.detail.received,
      className,
      cell: ({ item, counted }) => (
        <TextInput
          {...FIGURE}
          aria-label={words.receivedOf(item.line)}
          error={shownErrors || counted.received !== null ? counted.error.received : undefined}
          {...input('received', item)}
        />
      ),
    },
    {
      header: texts.detail.accepted,
      className,
      cell: ({ item, counted }) => (
        <TextInput
          {...FIGURE}
          aria-label={words.acceptedOf(item.line)}
          placeholder={
            counted.received === null || counted.error.received ? '' : formatNumber(counted.received)
          }
          error={counted.error.accepted}
          {...input('accepted', item)}
        />
      ),
    },
    {
      header: texts.detail.credit,
      className,
      cell: ({ item, counted }) => money(totalOf([{ price: item.price, quantity: counted.accepted || 0 }])),
    },
  ];
};

const stateOf = ({ quantity }: Item, { received, error }: Counted): string => {
  if (Object.keys(error).length > 0) return 'wrong';
  if (received === null) return 'open';
  return received < quantity ? 'part' : 'complete';
};
