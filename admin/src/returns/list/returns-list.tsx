import { Box, Button, Group, NativeSelect, Paper, Stack, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { ApiError } from '../../api.ts';
import type { ListSearch } from '../../list-search.ts';
import { BlockableButton, useBlocked } from '../../session/blocked.tsx';
import { lazyPart } from '../../ui/lazy.tsx';
import { ButtonLink } from '../../ui/links.tsx';
import { Pages } from '../../ui/list-pager.tsx';
import { PageTitle } from '../../ui/page-frame.tsx';
import { LoadingRows, QueryError } from '../../ui/query-view.tsx';
import { type AnyReturn, countOf, type Kind } from '../kinds.ts';
import { NewReturnLink, PAGE_SIZES, rememberSearch, usePageSize } from '../links.tsx';
import type { StaffMove } from '../moves/moves.ts';
import { listQuery } from '../queries.ts';
import type { CsvColumn } from './csv.ts';
import { CsvExport } from './csv-export.tsx';
import { ListFilters } from './list-filters.tsx';
import { type ListOrder, orderInSearch, orderOf } from './list-order.ts';
import { type ReturnColumn, ReturnsCards, ReturnsTable } from './returns-table.tsx';

const EmptyList = lazyPart(async () => (await import('./empty-list.tsx')).EmptyList);
const AssignDialog = lazyPart(async () => (await import('../person-select.tsx')).AssignDialog);

/** On a narrower screen a table would not fit beside the menu. */
const NARROW = '(max-width: 62em)';

interface Props<Item> {
  kind: Kind;
  columns: readonly ReturnColumn<Item>[];
  csv: readonly CsvColumn<Item>[];
  moves: readonly StaffMove<Item>[];
}

export const ReturnsList = <Item extends AnyReturn>(props: Props<Item>) => {
  const { kind, csv } = props;
  const search: ListSearch = useSearch({ from: `/inside${kind.path}` as const });
  const navigate = useNavigate();
  /** What is typed letter by letter becomes one step of the browser's history. */
  const onSearch = (next: ListSearch, isTyped = false) =>
    void navigate({ to: kind.path, search: next, replace: isTyped });
  const [pageSize, setPageSize] = usePageSize();
  const list = useQuery(listQuery<Item>(kind, search, pageSize));
  useEffect(() => rememberSearch(kind, search), [kind, search]);
  const items = list.data?.items ?? [];
  const order = orderOf(search);
  const toPage = (page: number) => {
    onSearch({ ...search, page });
    window.scrollTo({ top: 0 });
  };
  return (
    <Stack gap="sm" pb="xl">
      <Group justify="space-between" gap="sm">
        <PageTitle>{kind.title}</PageTitle>
        <Group gap="xs">
          <CsvExport kind={kind} search={search} columns={csv} disabled={(list.data?.total ?? 0) === 0} />
          <NewReturnLink kind={kind} />
        </Group>
      </Group>
      <ListFilters kind={kind} search={search} onSearch={onSearch} />
      <QueryError query={list} title="The list could not be read" stale="This may be out of date">
        {isRefused(list.error) ? (
          <Button size="xs" variant="default" onClick={() => onSearch(orderInSearch(order))}>
            Clear all filters
          </Button>
        ) : null}
      </QueryError>
      {list.isPending ? <LoadingRows rows={8} /> : null}
      {list.data && items.length === 0 ? (
        <EmptyList kind={kind} search={search} total={list.data.total} onSearch={onSearch} />
      ) : null}
      <SelectableRows
        {...props}
        items={items}
        isStale={list.isPlaceholderData}
        order={order}
        // A new order starts at the first page.
        onOrder={(next) => onSearch({ ...search, ...orderInSearch(next), page: undefined })}
      />
      {list.data ? (
        <ListFooter
          kind={kind}
          list={list.data}
          pageSize={pageSize}
          onPageSize={(size) => {
            setPageSize(size);
            onSearch({ ...search, page: undefined });
          }}
          onPage={toPage}
        />
      ) : null}
    </Stack>
  );
};

interface FooterProps {
  kind: Kind;
  list: { page: number; totalPages: number; total: number };
  pageSize: number;
  onPageSize(size: number): void;
  onPage(page: number): void;
}

const ListFooter = ({ kind, list, pageSize, onPageSize, onPage }: FooterProps) => (
  <Group justify="space-between" gap="sm">
    <Text size="sm" c="dimmed" aria-live="polite" className="tabular-numbers">
      {countOf(list.total, kind)}
    </Text>
    <Group gap="md">
      <PageSizeSelect size={pageSize} onSize={onPageSize} />
      <Pages list={list} onPage={onPage} />
    </Group>
  </Group>
);

interface RowsProps<Item> extends Pick<Props<Item>, 'kind' | 'columns' | 'moves'> {
  items: readonly Item[];
  /** They are of the page before, while the next one is read. */
  isStale: boolean;
  order: ListOrder;
  onOrder(order: ListOrder): void;
}

const SelectableRows = <Item extends AnyReturn>(props: RowsProps<Item>) => {
  const { kind, moves, items, isStale } = props;
  const { selected, selectOnly, ...selection } = useSelection(items);
  const [assigning, setAssigning] = useState<readonly Item[] | null>(null);
  const isNarrow = useMediaQuery(NARROW, undefined, { getInitialValueInEffect: false });
  const Rows = isNarrow ? ReturnsCards : ReturnsTable;
  return (
    <>
      {items.length > 0 ? (
        <Box aria-busy={isStale} opacity={isStale ? 0.5 : 1}>
          <Rows {...props} {...selection} onAssign={(item) => setAssigning([item])} />
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
    </>
  );
};

/** The selected items, across the pages of a list. `items` are those of the current page. */
const useSelection = <Item extends AnyReturn>(items: readonly Item[]) => {
  const [selected, setSelected] = useState<ReadonlyMap<string, Item>>(new Map());
  const current = new Map(items.map((item) => [item.id, item]));
  return {
    // An item of another page may have changed since; the service decides when it is moved.
    selected: [...selected.values()].map((item) => current.get(item.id) ?? item),
    isSelected: (id: string) => selected.has(id),
    select: (some: readonly Item[], on: boolean) => {
      const next = new Map(selected);
      for (const item of some) on ? next.set(item.id, item) : next.delete(item.id);
      setSelected(next);
    },
    selectOnly: (some: readonly Item[]) => setSelected(new Map(some.map((item) => [item.id, item]))),
  };
};

/** Only where the service refuses the filters does it help to clear them. */
const isRefused = (error: Error | null): boolean => error instanceof ApiError && error.status === 400;

const PageSizeSelect = ({ size, onSize }: { size: number; onSize(size: number): void }) => (
  <Group gap={6}>
    <Text size="sm" c="dimmed" component="label" htmlFor="page-size">
      Rows
    </Text>
    <NativeSelect
      id="page-size"
      size="xs"
      data={PAGE_SIZES.map(String)}
      value={String(size)}
      onChange={({ currentTarget }) => onSize(Number(currentTarget.value))}
    />
  </Group>
);

const BulkDialog = lazyPart(async () => (await import('../moves/bulk-dialog.tsx')).BulkDialog);

interface BulkMovesProps<Item> {
  kind: Kind;
  moves: readonly StaffMove<Item>[];
  selected: readonly Item[];
  onSelect(items: readonly Item[]): void;
  onAssign(): void;
}

const BulkMoves = <Item extends AnyReturn>(props: BulkMovesProps<Item>) => {
  const { kind, moves, selected, onSelect, onAssign } = props;
  const [move, setMove] = useState<StaffMove<Item> | null>(null);
  // Loads the dialog ahead, so that it opens even when the connection is lost.
  useEffect(BulkDialog.preload, []);
  return (
    <Paper
      withBorder
      px="sm"
      py={6}
      bg="var(--mantine-primary-color-light)"
      shadow="md"
      // At the bottom of the screen, so that no row moves away from the pointer when it appears.
      pos="sticky"
      bottom={8}
      style={{ zIndex: 2 }}
      role="region"
      aria-label="Selected rows"
    >
      <Group gap="xs">
        <Text size="sm" fw={600} className="tabular-numbers" role="status" mr="xs">
          {countOf(selected.length, kind)} selected
        </Text>
        <Button size="xs" variant="default" onClick={onAssign}>
          Assign
        </Button>
        <MoveButtons moves={moves} selected={selected} onMove={setMove} />
        <ButtonLink
          to="/print"
          search={{ kind: kind.path.slice(1), ids: selected.map(({ id }) => id).join() }}
          size="xs"
          variant="default"
        >
          Print slips
        </ButtonLink>
        <Button size="xs" variant="subtle" ml="auto" onClick={() => onSelect([])}>
          Clear selection
        </Button>
      </Group>
      {move ? (
        <BulkDialog
          kind={kind}
          move={move}
          selected={selected}
          onClose={(notMoved) => {
            setMove(null);
            if (notMoved) onSelect(notMoved);
          }}
        />
      ) : null}
    </Paper>
  );
};

interface MoveButtonsProps<Item> extends Pick<BulkMovesProps<Item>, 'moves' | 'selected'> {
  onMove(move: StaffMove<Item>): void;
}

const MoveButtons = <Item extends AnyReturn>({ moves, selected, onMove }: MoveButtonsProps<Item>) => {
  const { changing } = useBlocked();
  return moves.map((move) => {
    const open = selected.filter((item) => move.isOpen(item)).length;
    return (
      <BlockableButton
        key={move.action}
        blocked={changing}
        size="xs"
        variant="default"
        disabled={open === 0}
        onClick={() => onMove(move)}
      >
        {move.label}
        {open === selected.length ? '' : ` (${open})`}
      </BlockableButton>
    );
  });
};
