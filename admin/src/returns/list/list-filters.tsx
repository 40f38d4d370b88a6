import { Button, Group, NativeSelect, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ListFilter, Search } from 'lucide-react';
import { useId, useState } from 'react';
import type { ListSearch } from '../../list-search.ts';
import { overviewQuery } from '../../shop-queries.ts';
import { lazyPart } from '../../ui/lazy.tsx';
import type { AnyReturn, Kind } from '../kinds.ts';
import { describeStatus } from '../labels.ts';
import { fetchPage } from '../queries.ts';
import { FilterChips } from './filter-chips.tsx';
import { SearchField } from './search-field.tsx';
import { ViewsBar } from './views-bar.tsx';

const FilterPanel = lazyPart(async () => (await import('./filter-panel.tsx')).FilterPanel);

interface Props {
  kind: Kind;
  statuses: readonly string[];
  search: ListSearch;
  /** What is typed letter by letter becomes one step of the browser's history. */
  onSearch(search: ListSearch, isTyped?: boolean): void;
}

export const ListFilters = ({ kind, statuses, search, onSearch }: Props) => {
  const openOnlyMatch = useOpenOnlyMatch(kind);
  const [showsAll, setShowsAll] = useState(false);
  const panelId = useId();
  /** A new filter starts at the first page. */
  const filterBy = (change: ListSearch, isTyped = false) => {
    const { page: _, ...rest } = search;
    onSearch({ ...rest, ...change }, isTyped);
  };
  return (
    <Stack gap="xs" role="search" aria-label={kind.title}>
      <ViewsBar kind={kind} search={search} onSearch={onSearch} />
      <Group gap="xs">
        <SearchField
          label="Number, reference, customer, phone, serial …"
          value={search.q ?? ''}
          onSearch={(q) => filterBy({ q: q || undefined }, true)}
          onEnter={openOnlyMatch}
          leftSection={<Search size={16} aria-hidden />}
          style={{ flex: '3 1 240px' }}
        />
        <StatusSelect
          kind={kind}
          statuses={statuses}
          search={search}
          onStatus={(status) => filterBy({ status })}
        />
        <Button
          variant="default"
          style={showsAll ? { borderColor: 'var(--mantine-primary-color-filled)' } : {}}
          leftSection={<ListFilter size={16} aria-hidden />}
          aria-expanded={showsAll}
          aria-controls={panelId}
          onClick={() => setShowsAll(!showsAll)}
        >
          Filters
        </Button>
      </Group>
      <div id={panelId} hidden={!showsAll}>
        {showsAll ? <FilterPanel kind={kind} search={search} onFilter={filterBy} /> : null}
      </div>
      <FilterChips kind={kind} search={search} onSearch={onSearch} />
    </Stack>
  );
};

interface StatusProps extends Pick<Props, 'kind' | 'statuses' | 'search'> {
  onStatus(status: string | undefined): void;
}

/** The counts are those of the whole shop. */
const StatusSelect = ({ kind, statuses, search, onStatus }: StatusProps) => {
  const { data } = useQuery(overviewQuery);
  const counts = new Map<string, number>(
    data?.[kind.overview].byStatus.map((each) => [each.status, each.count]),
  );
  const label = (status: string) => {
    const count = counts.get(status);
    return `${describeStatus(status).label}${count === undefined ? '' : ` (${count.toLocaleString()})`}`;
  };
  return (
    <NativeSelect
      aria-label="Status"
      data={[
        { value: '', label: 'Any status' },
        ...statuses.map((status) => ({ value: status, label: label(status) })),
      ]}
      value={search.status ?? ''}
      onChange={({ currentTarget: { value } }) => onStatus(value || undefined)}
      style={{ flex: '1 1 150px', maxWidth: 240 }}
    />
  );
};

/** Somebody scanned a slip or typed a whole number: if there is one match, open or ended, it opens. */
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
