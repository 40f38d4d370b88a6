import { Box, Button, Group, Skeleton, Stack } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { ApiError } from '../../api.ts';
import type { ListSearch } from '../../list-search.ts';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { lazyPart } from '../../ui/lazy.tsx';
import { PageTitle } from '../../ui/page-frame.tsx';
import type { AnyReturn, Kind } from '../kinds.ts';
import { NewReturnLink } from '../links.tsx';
import { BulkMoves } from '../moves/bulk-moves.tsx';
import type { StaffMove } from '../moves/moves.ts';
import { listQuery } from '../queries.ts';
import { rememberSearch, usePageSize } from '../remembered.ts';
import type { CsvColumn } from './csv.ts';
import { CsvExport } from './csv-export.tsx';
import { ListFilters } from './list-filters.tsx';
import { ListFooter } from './list-footer.tsx';
import { type ListOrder, orderInSearch, orderOf } from './list-order.ts';
import { OrderSelect, ReturnsCards } from './returns-cards.tsx';
import { type ReturnColumn, useSelection } from './returns-rows.tsx';
import { ReturnsTable } from './returns-table.tsx';

const EmptyList = lazyPart(async () => (await import('./empty-list.tsx')).EmptyList);
const AssignDialog = lazyPart(async () => (await import('./assign-dialog.tsx')).AssignDialog);

/** On a narrower screen a table would not fit beside the menu. */
const NARROW = '(max-width: 62em)';

interface Props<Item> {
  kind: Kind;
  statuses: readonly string[];
  columns: readonly ReturnColumn<Item>[];
  csv: readonly CsvColumn<Item>[];
  moves: readonly StaffMove<Item>[];
  search: ListSearch;
  /** What is typed letter by letter becomes one step of the browser's history. */
  onSearch(search: ListSearch, isTyped?: boolean): void;
}

/** A list of returns with its filters, pages, export and bulk moves. */
export const ReturnsList = <Item extends AnyReturn>(props: Props<Item>) => {
  const { kind, columns, moves, search, onSearch } = props;
  const [pageSize, setPageSize] = usePageSize();
  const list = useQuery(listQuery<Item>(kind, search, pageSize));
  useEffect(() => rememberSearch(kind, search), [kind, search]);
  const items = list.data?.items ?? [];
  const { selected, isSelected, select, selectOnly } = useSelection(items);
  /** What is being assigned to somebody: one row, or all that are selected. */
  const [assigning, setAssigning] = useState<readonly Item[] | null>(null);

  const isNarrow = useMediaQuery(NARROW, undefined, { getInitialValueInEffect: false });
  const rows = { kind, columns, items, isSelected, select, onAssign: (item: Item) => setAssigning([item]) };
  const order = orderOf(search);
  /** A new order starts at the first page. */
  const reorder = (next: ListOrder) => onSearch({ ...search, ...orderInSearch(next), page: undefined });
  const toPage = (page: number) => {
    onSearch({ ...search, page });
    window.scrollTo({ top: 0 });
  };
  return (
    <Stack gap="sm" pb="xl">
      <Header {...props} isEmpty={(list.data?.total ?? 0) === 0} />
      <ListFilters {...props} />
      <ListError list={list} onClear={() => onSearch(orderInSearch(order))} />
      {list.isPending ? <LoadingRows /> : null}
      {list.data && items.length === 0 ? (
        <EmptyList kind={kind} search={search} total={list.data.total} onSearch={onSearch} />
      ) : null}
      {items.length > 0 ? (
        <Box aria-busy={list.isPlaceholderData} opacity={list.isPlaceholderData ? 0.5 : 1}>
          {isNarrow ? (
            <ReturnsCards {...rows} orderSelect={<OrderSelect order={order} onOrder={reorder} />} />
          ) : (
            <ReturnsTable {...rows} order={order} onOrder={reorder} />
          )}
        </Box>
      ) : null}
      {selected.length > 0 ? (
        <BulkMoves
          kind={kind}
          moves={moves}
          selected={selected}
          onSelect={selectOnly}
          onAssign={() => setAssigning(selected)}
        />
      ) : null}
      {assigning ? <AssignDialog kind={kind} items={assigning} onClose={() => setAssigning(null)} /> : null}
      {list.data ? (
        <ListFooter
          kind={kind}
          list={list.data}
          pageSize={pageSize}
          onPage={toPage}
          onPageSize={(size) => {
            setPageSize(size);
            onSearch({ ...search, page: undefined });
          }}
        />
      ) : null}
    </Stack>
  );
};

const Header = <Item extends AnyReturn>({
  kind,
  search,
  csv,
  isEmpty,
}: Pick<Props<Item>, 'kind' | 'search' | 'csv'> & { isEmpty: boolean }) => (
  <Group justify="space-between" gap="sm">
    <PageTitle>{kind.title}</PageTitle>
    <Group gap="xs">
      <CsvExport kind={kind} search={search} columns={csv} disabled={isEmpty} />
      <NewReturnLink kind={kind} />
    </Group>
  </Group>
);

/** Only where the service refuses the filters does it help to clear them. */
const isRefused = (error: Error): boolean => error instanceof ApiError && error.status === 400;

const ListError = ({ list, onClear }: { list: UseQueryResult; onClear(): void }) => {
  if (!list.error) return null;
  return (
    <ErrorAlert
      title={list.data ? 'This may be out of date' : 'The list could not be read'}
      error={list.error}
      onRetry={() => void list.refetch()}
    >
      {isRefused(list.error) ? (
        <Button size="xs" variant="default" onClick={onClear}>
          Clear all filters
        </Button>
      ) : null}
    </ErrorAlert>
  );
};

const LoadingRows = () => (
  <Stack gap="xs" role="status" aria-label="Loading">
    {[1, 2, 3, 4, 5, 6, 7, 8].map((row) => (
      <Skeleton key={row} height={44} />
    ))}
  </Stack>
);
