import { Box, Button, Group, Paper, Stack, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type MouseEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { ApiError } from '../../api.ts';
import type { ListSearch } from '../../list-search.ts';
import { BlockableButton, useBlocked } from '../../session/blocked.tsx';
import { texts } from '../../texts.ts';
import type { MenuAction } from '../../ui/action-menu.tsx';
import { lazyPart, whenIdle } from '../../ui/lazy.tsx';
import { ListFooter } from '../../ui/list-pager.tsx';
import { PageTitle } from '../../ui/page-frame.tsx';
import { LoadingRows, QueryError } from '../../ui/query-view.tsx';
import { RunProgress } from '../../ui/run-progress.tsx';
import { useRemembered } from '../../ui/tab-storage.ts';
import { type AnyReturn, countOf, type Kind } from '../kinds.ts';
import { NewReturnLink, rememberSearch, usePageSize } from '../links.tsx';
import type { StaffMove } from '../moves/moves.ts';
import { listQuery } from '../queries.ts';
import type { CsvColumn } from './csv.ts';
import { useCsvExport } from './csv-export.tsx';
import { SELECTED, useListKeys } from './list-keys.ts';
import { type ListOrder, orderInSearch, orderOf } from './list-order.ts';
import { DENSITIES, type Density, ListOptions, ListToolbar } from './list-toolbar.tsx';
import { type ReturnColumn, ReturnsCards, ReturnsTable } from './returns-table.tsx';

const EmptyList = lazyPart(async () => (await import('./empty-list.tsx')).EmptyList);
const AssignPopover = lazyPart(async () => (await import('../person-select.tsx')).AssignPopover);
const WaitingDialog = lazyPart(async () => (await import('../moves/waiting.tsx')).WaitingDialog);
const RowPreview = lazyPart(async () => (await import('./row-preview.tsx')).RowPreview);

/** On a narrower screen a table would not fit beside the menu. */
const NARROW = '(max-width: 62em)';
const PREVIEW_WIDTH = '23rem';
/** From here on there is room for a preview beside the rows. */
const ROOMY = '(min-width: 1100px)';

interface Props<Item> {
  kind: Kind;
  columns: readonly ReturnColumn<Item>[];
  csv: readonly CsvColumn<Item>[];
  moves: readonly StaffMove<Item>[];
}

const useMatches = (query: string): boolean =>
  useMediaQuery(query, undefined, { getInitialValueInEffect: false }) ?? false;

export const ReturnsList = <Item extends AnyReturn>({ kind, columns, csv, moves }: Props<Item>) => {
  const search: ListSearch = useSearch({ from: `/inside${kind.path}` as const });
  const navigate = useNavigate();
  /** What is typed letter by letter becomes one step of the browser's history. */
  const onSearch = (next: ListSearch, isTyped = false) =>
    void navigate({ to: kind.path, search: next, replace: isTyped });
  const [pageSize, setPageSize] = usePageSize();
  const [density, setDensity] = useRemembered<Density>('handback.density', DENSITIES[0]);
  const isNarrow = useMatches(NARROW);
  const list = useQuery(listQuery<Item>(kind, search, pageSize));
  useEffect(() => rememberSearch(kind, search), [kind, search]);
  const items = list.data?.items ?? [];
  const selection = useSelection(items);
  const csvExport = useCsvExport(kind, search, csv);
  const order = orderOf(search);
  const isAllSelected = items.every(({ id }) => selection.isSelected(id));
  return (
    <Stack gap="sm" pb="xl">
      <Group justify="space-between" gap="sm" wrap="nowrap">
        <PageTitle>{kind.title}</PageTitle>
        <NewReturnLink kind={kind} />
      </Group>
      <ListToolbar kind={kind} search={search} onSearch={onSearch}>
        <ListOptions
          density={density}
          onDensity={setDensity}
          pageSize={pageSize}
          onPageSize={(size) => {
            setPageSize(size);
            onSearch({ ...search, page: undefined });
          }}
          onSelectAll={isNarrow ? () => selection.select(items, !isAllSelected) : undefined}
          onExport={list.data?.total ? () => void csvExport.run() : null}
        />
      </ListToolbar>
      {csvExport.progress ? (
        <RunProgress label={texts.list.exporting} {...csvExport.progress} onStop={csvExport.stop} />
      ) : null}
      <QueryError query={list} title={texts.list.notRead} stale={texts.list.outOfDate}>
        {isRefused(list.error) ? (
          <Button size="xs" variant="default" onClick={() => onSearch(orderInSearch(order))}>
            {texts.list.clearAll}
          </Button>
        ) : null}
      </QueryError>
      {list.isPending ? <LoadingRows rows={8} /> : null}
      {list.data && items.length === 0 ? (
        <EmptyList kind={kind} search={search} total={list.data.total} onSearch={onSearch} />
      ) : null}
      <ListRows
        kind={kind}
        columns={columns}
        moves={moves}
        items={items}
        density={density}
        isNarrow={isNarrow}
        selection={selection}
        list={JSON.stringify([kind.path, search, pageSize])}
        isStale={list.isPlaceholderData}
        order={order}
        // A new order starts at the first page.
        onOrder={(next) => onSearch({ ...search, ...orderInSearch(next), page: undefined })}
      />
      {list.data ? (
        <Box onMouseDown={keepFocusInRow}>
          <ListFooter
            count={countOf(list.data.total, kind)}
            list={list.data}
            onPage={(page) => {
              onSearch({ ...search, page });
              window.scrollTo({ top: 0 });
            }}
          />
        </Box>
      ) : null}
    </Stack>
  );
};

interface Selection<Item> {
  selected: readonly Item[];
  isSelected(id: string): boolean;
  /** With `isRange` also all rows since the one that was selected before. */
  select(items: readonly Item[], on: boolean, isRange?: boolean): void;
  selectOnly(items: readonly Item[]): void;
}

interface RowsProps<Item> extends Pick<Props<Item>, 'kind' | 'columns' | 'moves'> {
  items: readonly Item[];
  density: Density;
  isNarrow: boolean;
  selection: Selection<Item>;
  list: string;
  /** They are of the page before, while the next one is read. */
  isStale: boolean;
  order: ListOrder;
  onOrder(order: ListOrder): void;
}

/** The rows with their keys, the bar for what is selected, and the preview. */
const ListRows = <Item extends AnyReturn>(props: RowsProps<Item>) => {
  const { kind, moves, items, isNarrow, list, isStale } = props;
  const { selected, selectOnly, ...selection } = props.selection;
  const { assigning, startAssigning, assignPopover } = useAssigning(kind, selected.length > 0);
  const { previewed, preview, closePreview, onCursor } = useListKeys({
    kind,
    list,
    isStale,
    items,
    selected,
    ...selection,
    onClear: () => selectOnly([]),
    onAssign: startAssigning,
  });
  const isRoomy = useMatches(ROOMY);
  const shown = isRoomy ? previewed : undefined;
  const Rows = isNarrow ? ReturnsCards : ReturnsTable;
  return (
    <>
      {items.length > 0 ? (
        <Box
          aria-busy={isStale}
          opacity={isStale ? 0.5 : 1}
          onKeyDown={(event) => {
            // On the number of a row, where Space would scroll the page.
            if (event.key !== ' ' || !(event.target instanceof HTMLAnchorElement)) return;
            event.preventDefault();
            preview();
          }}
        >
          <Rows
            {...props}
            {...selection}
            isPreviewed={shown !== undefined}
            onCursor={onCursor}
            assigning={assigning}
            assignPopover={(item) => assignPopover([item])}
            onAssign={({ id }) => startAssigning(id)}
          />
        </Box>
      ) : null}
      {shown ? <RowPreview kind={kind} item={shown} onClose={closePreview} /> : null}
      <BulkMoves
        kind={kind}
        moves={moves}
        selected={selected}
        isBesidePreview={shown !== undefined}
        isNarrow={isNarrow}
        onSelect={selectOnly}
        onAssign={() => startAssigning(SELECTED)}
        assignPopover={assigning === SELECTED ? assignPopover(selected) : null}
      />
    </>
  );
};

/** Whose assignee is being chosen: a row by its id, or what is selected. The focus goes back to where it was. */
const useAssigning = (kind: Kind, hasSelected: boolean) => {
  const [assigning, setAssigning] = useState<string | null>(null);
  // All that was selected has left the list: the choice must not open by itself for what is selected next.
  if (assigning === SELECTED && !hasSelected) setAssigning(null);
  const before = useRef<Element>(null);
  useEffect(() => void whenIdle().then(AssignPopover.preload), []);
  const close = () => {
    setAssigning(null);
    if (before.current instanceof HTMLElement) before.current.focus();
  };
  return {
    assigning,
    startAssigning: (which: string) => {
      before.current = document.activeElement;
      setAssigning(which);
    },
    assignPopover: (items: readonly AnyReturn[]) => (
      <AssignPopover kind={kind} items={items} onClose={close} />
    ),
  };
};

/** Of the items that are shown, those that are selected. */
const useSelection = <Item extends AnyReturn>(items: readonly Item[]): Selection<Item> => {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  /** Where a range begins: the row that was selected last. */
  const anchor = useRef<string>(undefined);
  const selected = items.filter(({ id }) => ids.has(id));
  const selectOnly = (some: readonly Item[]) => setIds(new Set(some.map(({ id }) => id)));
  // Nothing is moved that is out of sight, or that comes back to the list later.
  if (selected.length < ids.size) selectOnly(selected);
  const rangeTo = (item: Item): readonly Item[] => {
    const [from, to] = [anchor.current, item.id].map((id) => items.findIndex((each) => each.id === id));
    if (from === undefined || to === undefined || from < 0) return [item];
    return items.slice(Math.min(from, to), Math.max(from, to) + 1);
  };
  return {
    selected,
    isSelected: (id: string) => ids.has(id),
    select: (some: readonly Item[], on: boolean, isRange = false) => {
      const [last] = some.slice(-1);
      const next = new Set(ids);
      for (const { id } of isRange && last ? rangeTo(last) : some) on ? next.add(id) : next.delete(id);
      anchor.current = last?.id;
      setIds(next);
    },
    selectOnly,
  };
};

/** Only where the service refuses the filters does it help to clear them. */
const isRefused = (error: Error | null): boolean => error instanceof ApiError && error.status === 400;

const ActionMenu = lazyPart(async () => (await import('../../ui/action-menu.tsx')).ActionMenu);
const BulkDialog = lazyPart(async () => (await import('../moves/bulk-dialog.tsx')).BulkDialog);

interface BulkMovesProps<Item> {
  kind: Kind;
  moves: readonly StaffMove<Item>[];
  selected: readonly Item[];
  isBesidePreview: boolean;
  isNarrow: boolean;
  onSelect(items: readonly Item[]): void;
  onAssign(): void;
  assignPopover: ReactNode;
}

const BulkMoves = <Item extends AnyReturn>(props: BulkMovesProps<Item>) => {
  const { kind, moves, selected, isBesidePreview, isNarrow, onSelect, onAssign, assignPopover } = props;
  const [move, setMove] = useState<StaffMove<Item> | null>(null);
  /** For these the dialog is open, also when they leave the list behind it. */
  const [waiting, setWaiting] = useState<readonly Item[] | null>(null);
  const navigate = useNavigate();
  const blocked = useBlocked();
  const moveActions = moves.map((each): MenuAction => {
    const open = selected.filter((item) => each.isOpen(item)).length;
    return {
      label: open === selected.length ? each.label : texts.list.openMoves(each.label, open),
      blocked: open === 0 ? texts.list.noneOpen : blocked,
      run: () => setMove(each),
    };
  });
  const otherActions: MenuAction[] = [
    { label: texts.waiting.menu, blocked, run: () => setWaiting(selected) },
    {
      label: texts.list.printSlips,
      run: () => {
        const search = { kind: kind.path.slice(1), ids: selected.map(({ id }) => id).join() };
        void navigate({ to: '/print', search });
      },
    },
  ];
  return (
    <>
      {selected.length > 0 ? (
        <BulkBar isBesidePreview={isBesidePreview}>
          <Group gap="xs" wrap={isNarrow ? 'nowrap' : 'wrap'}>
            <Text size="sm" fw={600} className="tabular-numbers" role="status" mr="auto">
              {texts.list.selected(isNarrow ? String(selected.length) : countOf(selected.length, kind))}
            </Text>
            <Box pos="relative">
              <Button size="xs" variant="default" onClick={onAssign}>
                {texts.list.assign}
              </Button>
              {assignPopover}
            </Box>
            {isNarrow ? (
              <ActionMenu groups={[moveActions, otherActions]} />
            ) : (
              [...moveActions, ...otherActions].map(({ label, blocked = null, run }) => (
                <BlockableButton key={label} blocked={blocked} size="xs" variant="default" onClick={run}>
                  {label}
                </BlockableButton>
              ))
            )}
            <Button size="xs" variant="subtle" onClick={() => onSelect([])}>
              {isNarrow ? texts.list.clearShort : texts.list.clearSelection}
            </Button>
          </Group>
        </BulkBar>
      ) : null}
      {waiting ? <WaitingDialog kind={kind} items={waiting} onClose={() => setWaiting(null)} /> : null}
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
    </>
  );
};

/**
 * The row of the keyboard shows more of its text: without the focus it would shrink under a press, and a button below the rows would
 * move away before the click.
 */
const keepFocusInRow = (event: MouseEvent<HTMLElement>): void => {
  const target = event.target as Element;
  // What a popover of the bar hears comes by here too.
  const isOwnButton = event.currentTarget.contains(target) && target.closest('button');
  if (isOwnButton && document.activeElement?.closest('[data-return]')) event.preventDefault();
};

/** At the bottom of the screen, so that no row moves away from the pointer when it appears. */
const BulkBar = ({ isBesidePreview, children }: { isBesidePreview: boolean; children: ReactNode }) => {
  // Loads the dialog ahead, so that it opens even when the connection is lost.
  useEffect(BulkDialog.preload, []);
  return (
    <Paper
      withBorder
      px="sm"
      py={6}
      shadow="md"
      pos="sticky"
      bottom="calc(var(--bottom-bar, 0rem) + 8px)"
      mr={isBesidePreview ? PREVIEW_WIDTH : 0}
      // In dark the light of the primary colour lets the rows shine through.
      style={{
        background:
          'linear-gradient(var(--mantine-primary-color-light) 0 0), linear-gradient(var(--mantine-color-body) 0 0)',
        zIndex: 2,
      }}
      role="region"
      aria-label={texts.list.selection}
      data-bulk-bar
      onMouseDown={keepFocusInRow}
    >
      {children}
    </Paper>
  );
};
