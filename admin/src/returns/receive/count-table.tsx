import { TextInput } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { columnClass, type PlainColumn, PlainTable } from '../../ui/plain-table.tsx';
import { ItemName } from '../detail/trade-items.tsx';
import { formatNumber, totalOf, useMoney } from '../numbers.ts';
import { type Counted, type Counts, countedOf, type Item } from './counts.ts';
import styles from './receive.module.css';

interface Props {
  items: readonly Item[];
  counts: Counts;
  /** The line that was scanned last: shown, also in a long list. */
  lastLine: number | null;
  shownErrors: boolean;
  onChange(counts: Counts): void;
}

export const CountTable = ({ items, counts, lastLine, shownErrors, onChange }: Props) => {
  const table = useRef<HTMLDivElement>(null);
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
        caption="Items, with what was counted"
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
      header: 'Product',
      className: columnClass('text'),
      cell: ({ item, counted }) => (
        <>
          <ItemName item={item} />
          {counted.received !== null && counted.accepted < counted.received ? (
            <TextInput
              size="xs"
              mt={4}
              placeholder="Why not accepted?"
              aria-label={`Why not all of line ${item.line} were accepted`}
              {...input('note', item)}
            />
          ) : null}
        </>
      ),
    },
    { header: 'Declared', className, cell: ({ item }) => formatNumber(item.quantity) },
    {
      header: 'Received',
      className,
      cell: ({ item, counted }) => (
        <FigureInput
          label={`Received of line ${item.line}`}
          error={shownErrors || counted.received !== null ? counted.error.received : undefined}
          {...input('received', item)}
        />
      ),
    },
    {
      header: 'Accepted',
      className,
      cell: ({ item, counted }) => (
        <FigureInput
          label={`Accepted of line ${item.line}`}
          placeholder={counted.received === null ? '' : formatNumber(counted.received)}
          error={counted.error.accepted}
          {...input('accepted', item)}
        />
      ),
    },
    {
      header: 'Credit',
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

interface FigureProps {
  label: string;
  value: string;
  placeholder?: string;
  error: string | undefined;
  onChange(event: { currentTarget: HTMLInputElement }): void;
}

const FigureInput = ({ label, error, ...props }: FigureProps) => (
  <TextInput
    {...props}
    size="xs"
    aria-label={label}
    inputMode="decimal"
    autoComplete="off"
    error={error}
    className={styles['figure'] ?? ''}
    onFocus={({ currentTarget }) => currentTarget.select()}
  />
);
