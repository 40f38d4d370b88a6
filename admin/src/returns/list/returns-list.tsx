import { Box, Button, EmptyState, Group, NativeSelect, Paper, Skeleton, Stack } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { PackageOpen, Plus, SearchX } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { ListSearch } from '../../list-search.ts';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { ButtonLink } from '../../ui/links.tsx';
import { ListPager } from '../../ui/list-pager.tsx';
import { PageTitle } from '../../ui/page-title.tsx';
import { PastEnd } from '../../ui/past-end.tsx';
import { type AnyReturn, countOf, type Kind } from '../kinds.ts';
import { rememberSearch } from '../last-search.ts';
import { BulkMoves } from '../moves/bulk-moves.tsx';
import type { StaffMove } from '../moves/moves.ts';
import { isFiltered, listQuery } from '../queries.ts';
import type { CsvColumn } from './csv.ts';
import { CsvExport } from './csv-export.tsx';
import { ListFilters } from './list-filters.tsx';
import { type ListOrder, ORDER_LABELS, orderInSearch, orderOf } from './list-order.ts';
import { type ReturnColumn, ReturnsCards, ReturnsTable } from './returns-table.tsx';

/** Narrower than this, beside the menu, a table is no use. */
const NARROW = '(max-width: 62em)';

interface Props<Item> {
  kind: Kind;
  statuses: readonly string[];
  columns: readonly ReturnColumn<Item>[];
  csv: readonly CsvColumn<Item>[];
  moves: readonly StaffMove<Item>[];
  search: ListSearch;
  /** What is typed letter by letter is one step for the back button. */
  onSearch(search: ListSearch, isTyped?: boolean): void;
}

/** A list of returns: found, filtered, paged, exported, and moved many at once. */
export const ReturnsList = <Item extends AnyReturn>(props: Props<Item>) => {
  const { kind, columns, moves, search, onSearch } = props;
  const narrow = useMediaQuery(NARROW, undefined, { getInitialValueInEffect: false });
  const list = useQuery(listQuery<Item>(kind, search));
  const [selected, setSelected] = useState<ReadonlyMap<string, Item>>(new Map());
  useEffect(() => rememberSearch(kind, search), [kind, search]);

  const items = list.data?.items ?? [];
  const fresh = new Map(items.map((item) => [item.id, item]));
  // What was selected on another page is known as it stood then; the service has the last word.
  const chosen = [...selected.values()].map((item) => fresh.get(item.id) ?? item);
  const select = (some: readonly Item[], on: boolean) => {
    const next = new Map(selected);
    for (const item of some) on ? next.set(item.id, item) : next.delete(item.id);
    setSelected(next);
  };
  const order = orderOf(search);
  /** Another order begins at its first page. */
  const reorder = (next: ListOrder) => onSearch({ ...search, ...orderInSearch(next), page: undefined });
  const rows = { kind, columns, items, isSelected: (id: string) => selected.has(id), select };

  return (
    <Stack gap="sm" pb="xl">
      <Group justify="space-between" gap="sm">
        <PageTitle>{kind.title}</PageTitle>
        <Group gap="xs">
          <CsvExport
            kind={kind}
            search={search}
            columns={props.csv}
            disabled={(list.data?.total ?? 0) === 0}
          />
          <ButtonLink to={kind.add} leftSection={<Plus size={16} aria-hidden />}>
            New {kind.one}
          </ButtonLink>
        </Group>
      </Group>
      <ListFilters {...props} />
      {list.error ? (
        <ErrorAlert
          title={list.data ? 'This may be out of date' : 'The list could not be read'}
          error={list.error}
          onRetry={() => void list.refetch()}
        >
          {list.data ? null : (
            <Button size="xs" variant="default" onClick={() => onSearch(orderInSearch(orderOf(search)))}>
              Clear all filters
            </Button>
          )}
        </ErrorAlert>
      ) : null}
      {list.isPending ? <Awaited /> : null}
      {list.data && items.length === 0 ? (
        <Nothing kind={kind} search={search} total={list.data.total} onSearch={onSearch} />
      ) : null}
      {items.length > 0 ? (
        <Box aria-busy={list.isPlaceholderData} opacity={list.isPlaceholderData ? 0.5 : 1}>
          {narrow ? (
            <ReturnsCards {...rows} above={<OrderSelect order={order} onOrder={reorder} />} />
          ) : (
            <ReturnsTable {...rows} order={order} onOrder={reorder} />
          )}
        </Box>
      ) : null}
      {chosen.length > 0 ? (
        <BulkMoves
          kind={kind}
          moves={moves}
          selected={chosen}
          onSelect={(some) => setSelected(new Map(some.map((item) => [item.id, item])))}
        />
      ) : null}
      {list.data ? (
        <ListPager
          list={list.data}
          noun={[kind.one, kind.many]}
          onPage={(page) => {
            onSearch({ ...search, page });
            window.scrollTo({ top: 0 });
          }}
        />
      ) : null}
    </Stack>
  );
};

const ORDERS = Object.entries(ORDER_LABELS).flatMap(([sort, words]) =>
  Object.entries(words).map(([order, label]) => ({ value: `${sort} ${order}`, label })),
);

/** The order, where there are no columns to click on. */
const OrderSelect = ({ order, onOrder }: { order: ListOrder; onOrder(order: ListOrder): void }) => (
  <NativeSelect
    aria-label="Order"
    size="xs"
    data={ORDERS}
    value={`${order.sort} ${order.order}`}
    onChange={({ currentTarget }) => {
      const [sort, way] = currentTarget.value.split(' ');
      onOrder({ sort, order: way } as ListOrder);
    }}
  />
);

const Awaited = () => (
  <Stack gap="xs" role="status" aria-label="Loading">
    {[1, 2, 3, 4, 5, 6, 7, 8].map((row) => (
      <Skeleton key={row} height={44} />
    ))}
  </Stack>
);

interface NothingProps {
  kind: Kind;
  search: ListSearch;
  total: number;
  onSearch(search: ListSearch): void;
}

/** Why a list is empty, and what to do about it. */
const Nothing = ({ kind, search, total, onSearch }: NothingProps) => {
  if (total > 0)
    return (
      <Paper withBorder>
        <PastEnd count={countOf(total, kind)} onFirst={() => onSearch({ ...search, page: undefined })} />
      </Paper>
    );
  return (
    <Paper withBorder p="xl">
      {isFiltered(kind, search) ? (
        <EmptyState
          icon={<SearchX size={32} aria-hidden />}
          title={`No ${kind.many} like that`}
          description="Every word must be found in number, order, customer, sku or serial, and all filters count together."
        >
          <EmptyState.Actions>
            <Button variant="default" onClick={() => onSearch(orderInSearch(orderOf(search)))}>
              Clear all filters
            </Button>
          </EmptyState.Actions>
        </EmptyState>
      ) : (
        <EmptyState
          icon={<PackageOpen size={32} aria-hidden />}
          title={`No ${kind.many} yet`}
          description={`What your programs and your staff create appears here.`}
        >
          <EmptyState.Actions>
            <ButtonLink to={kind.add}>Create the first</ButtonLink>
          </EmptyState.Actions>
        </EmptyState>
      )}
    </Paper>
  );
};
