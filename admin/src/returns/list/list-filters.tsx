import { Button, Group, NativeSelect, Stack } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import type { ListSearch } from '../../list-search.ts';
import type { AnyReturn, Kind } from '../kinds.ts';
import { fetchPage, isFiltered } from '../queries.ts';
import { orderInSearch, orderOf } from './list-order.ts';
import { SearchField } from './search-field.tsx';
import { StatusFilter } from './status-filter.tsx';

const ORIGINS = [
  { value: '', label: 'Created by anyone' },
  { value: 'API', label: 'Created by a program' },
  { value: 'STAFF', label: 'Created by staff' },
];

interface Props {
  kind: Kind;
  statuses: readonly string[];
  search: ListSearch;
  /** What is typed letter by letter becomes one step of the browser's history. */
  onSearch(search: ListSearch, isTyped?: boolean): void;
}

export const ListFilters = ({ kind, statuses, search, onSearch }: Props) => {
  const openOnlyMatch = useOpenOnlyMatch(kind);
  /** A new filter starts at the first page. */
  const filterBy = (change: ListSearch, isTyped = false) => {
    const { page: _, ...rest } = search;
    onSearch({ ...rest, ...change }, isTyped);
  };
  return (
    <Stack gap="xs" role="search" aria-label={kind.title}>
      <StatusFilter
        kind={kind}
        statuses={statuses}
        status={search.status}
        showCounts={!isFiltered(kind, { ...search, status: undefined })}
        onStatus={(status) => filterBy({ status })}
      />
      <Group gap="xs">
        <SearchField
          label="Number, order, customer, sku, serial"
          value={search.q ?? ''}
          onSearch={(q) => filterBy({ q: q || undefined }, true)}
          onEnter={openOnlyMatch}
          leftSection={<Search size={16} aria-hidden />}
          style={{ flex: '3 1 260px' }}
        />
        <NativeSelect
          aria-label="Created by"
          data={ORIGINS}
          value={search.origin ?? ''}
          onChange={({ currentTarget: { value } }) =>
            filterBy({ origin: (value || undefined) as ListSearch['origin'] })
          }
          style={{ flex: '1 1 150px' }}
        />
        <SearchField
          label={kind.referenceLabel}
          value={search[kind.reference] ?? ''}
          onSearch={(reference) => filterBy({ [kind.reference]: reference || undefined }, true)}
          style={{ flex: '1 1 120px' }}
        />
        {isFiltered(kind, search) ? (
          <Button variant="subtle" onClick={() => onSearch(orderInSearch(orderOf(search)))}>
            Clear filters
          </Button>
        ) : null}
      </Group>
    </Stack>
  );
};

/** Somebody scanned a slip or typed a whole number: if there is one match, it opens. */
const useOpenOnlyMatch = (kind: Kind) => {
  const navigate = useNavigate();
  return async (q: string) => {
    if (!q) return;
    // The list below shows the error.
    const found = await fetchPage<AnyReturn>(kind, { q }, 2).catch(() => null);
    const [only] = found?.items ?? [];
    if (found?.total === 1 && only) await navigate({ to: kind.detail, params: { id: only.id } });
  };
};
