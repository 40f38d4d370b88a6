import { ActionIcon, Button, CloseButton, TextInput, type TextInputProps } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { ArrowDownUp, Ellipsis, Plus, Search } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { LENGTH } from '../../../../contract/lengths.ts';
import type { ListSearch } from '../../list-search.ts';
import { texts } from '../../texts.ts';
import { lazyPart } from '../../ui/lazy.tsx';
import type { AnyReturn, Kind } from '../kinds.ts';
import { PAGE_SIZES } from '../links.tsx';
import { fetchPage } from '../queries.ts';
import { DropPanel, PanelChoice } from './drop-panel.tsx';
import { FilterChips, type FilterName } from './filter-chips.tsx';
import { type ListOrder, ORDER_LABELS, orderInSearch, orderOf } from './list-order.ts';
import styles from './toolbar.module.css';
import { ViewsBar } from './views-bar.tsx';

const FilterMenu = lazyPart(async () => (await import('./filter-menu.tsx')).FilterMenu);

interface Props {
  kind: Kind;
  search: ListSearch;
  /** What is typed letter by letter becomes one step of the browser's history. */
  onSearch(search: ListSearch, isTyped?: boolean): void;
  children: ReactNode;
}

/** Views, then one row: words, filters, order, options. */
export const ListToolbar = ({ kind, search, onSearch, children }: Props) => {
  const openOnlyMatch = useOpenOnlyMatch(kind);
  /** The filter that is chosen; `all` shows them by name. */
  const [filter, setFilter] = useState<FilterName | 'all' | null>(null);
  useEffect(FilterMenu.preload, []);
  /** A new filter or order starts at the first page. */
  const change = (changed: ListSearch, isTyped = false) => {
    const { page: _, ...rest } = search;
    onSearch({ ...rest, ...changed }, isTyped);
  };
  return (
    <search aria-label={kind.title} className={styles['search']}>
      <ViewsBar kind={kind} search={search} onSearch={onSearch} />
      <div className={styles['toolbar']}>
        <SearchField
          label={texts.list.search}
          value={search.q ?? ''}
          onSearch={(q) => change({ q: q || undefined }, true)}
          onEnter={openOnlyMatch}
          leftSection={<Search />}
          className={styles['words']}
        />
        <DropPanel
          label={texts.list.filterBy}
          isOpen={filter !== null}
          onClose={() => setFilter(null)}
          button={
            <Button
              variant="default"
              className={styles['icon-on-phone'] ?? ''}
              leftSection={<Plus />}
              aria-expanded={filter !== null}
              onClick={() => setFilter(filter === null ? 'all' : null)}
            >
              {texts.list.filter}
            </Button>
          }
        >
          <FilterMenu
            key={filter}
            kind={kind}
            search={search}
            first={filter === 'all' ? null : filter}
            onFilter={change}
            onClose={() => setFilter(null)}
          />
        </DropPanel>
        <FilterChips kind={kind} search={search} onSearch={onSearch} onEdit={setFilter} />
        <div className={styles['end']}>
          <OrderSelect order={orderOf(search)} onOrder={(order) => change(orderInSearch(order))} />
          {children}
        </div>
      </div>
    </search>
  );
};

const PAUSE_MS = 300;

interface SearchProps extends Omit<TextInputProps, 'value' | 'onChange'> {
  label: string;
  value: string;
  onSearch(value: string): void;
  onEnter?: (value: string) => void;
}

const SearchField = ({ label, value, onSearch, onEnter, ...rest }: SearchProps) => {
  const [text, setText] = useState(value);
  const searched = useRef(value);
  // The address may change without typing, by the back button for example.
  useEffect(() => {
    if (value === searched.current) return;
    searched.current = value;
    setText(value);
  }, [value]);
  const search = (next: string) => {
    searched.current = next.trim();
    if (searched.current !== value) onSearch(searched.current);
  };
  const searchLater = useDebouncedCallback(search, PAUSE_MS);
  return (
    <TextInput
      aria-label={label}
      placeholder={label}
      maxLength={LENGTH.name}
      value={text}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value);
        searchLater(currentTarget.value);
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter') return;
        searchLater.cancel();
        search(text);
        onEnter?.(text.trim());
      }}
      rightSection={
        text ? (
          <CloseButton
            size="sm"
            aria-label={texts.list.clear(label)}
            onClick={() => {
              searchLater.cancel();
              setText('');
              search('');
            }}
          />
        ) : undefined
      }
      {...rest}
    />
  );
};

/** After a scanned slip or a whole number: if there is one match, open or ended, it opens. */
const useOpenOnlyMatch = (kind: Kind) => {
  const navigate = useNavigate();
  return async (q: string) => {
    if (!q) return;
    // The list below shows the error.
    const found = await fetchPage<AnyReturn>(kind, { q, open: 'all' }, 2).catch(() => null);
    const [only] = found?.items ?? [];
    if (found?.total === 1 && only) await navigate({ to: kind.detail, params: { id: only.id } });
  };
};

const ORDERS = Object.entries(ORDER_LABELS).flatMap(([sort, labels]) =>
  Object.entries(labels).map(([order, label]) => ({ value: `${sort} ${order}`, label })),
);

/** On a phone only its icon is seen. */
const OrderSelect = ({ order, onOrder }: { order: ListOrder; onOrder(order: ListOrder): void }) => (
  <label className={styles['order']}>
    <ArrowDownUp />
    <select
      aria-label={texts.list.order}
      value={`${order.sort} ${order.order}`}
      onChange={({ currentTarget }) => {
        const [sort, direction] = currentTarget.value.split(' ');
        onOrder({ sort, order: direction } as ListOrder);
      }}
    >
      {ORDERS.map(({ value, label }) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  </label>
);

export const DENSITIES = ['compact', 'comfortable'] as const;
export type Density = (typeof DENSITIES)[number];

interface OptionsProps {
  density: Density;
  onDensity(density: Density): void;
  pageSize: number;
  onPageSize(size: number): void;
  /** Absent where a table has its own checkbox for all. */
  onSelectAll?: (() => void) | undefined;
  /** Null while there is nothing to export. */
  onExport: (() => void) | null;
}

/** What is changed rarely: row height, page size, export. */
export const ListOptions = (props: OptionsProps) => {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  const then = (run: () => void) => () => {
    run();
    close();
  };
  return (
    <DropPanel
      label={texts.list.options}
      isOpen={isOpen}
      onClose={close}
      button={
        <ActionIcon
          variant="default"
          className={styles['options'] ?? ''}
          aria-label={texts.list.options}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <Ellipsis />
        </ActionIcon>
      }
    >
      <PanelChoice disabled={props.onExport === null} onChoose={then(() => props.onExport?.())}>
        {texts.list.exportCsv}
      </PanelChoice>
      {props.onSelectAll ? (
        <PanelChoice onChoose={then(props.onSelectAll)}>{texts.list.selectAll}</PanelChoice>
      ) : (
        <Choices
          label={texts.list.density}
          values={DENSITIES}
          value={props.density}
          nameOf={(density) => texts.list.densities[density]}
          onValue={props.onDensity}
        />
      )}
      <Choices
        label={texts.list.rows}
        values={PAGE_SIZES}
        value={props.pageSize}
        nameOf={String}
        onValue={props.onPageSize}
      />
    </DropPanel>
  );
};

interface ChoicesProps<Value> {
  label: string;
  values: readonly Value[];
  value: Value;
  nameOf(value: Value): string;
  onValue(value: Value): void;
}

const Choices = <Value,>({ label, values, value, nameOf, onValue }: ChoicesProps<Value>) => (
  <fieldset className={styles['option']}>
    <legend>{label}</legend>
    {values.map((each) => (
      <button key={nameOf(each)} type="button" aria-pressed={each === value} onClick={() => onValue(each)}>
        {nameOf(each)}
      </button>
    ))}
  </fieldset>
);
