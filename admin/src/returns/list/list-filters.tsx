import { Button, CloseButton, Group, NativeSelect, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ListFilter, Search } from 'lucide-react';
import { useId, useState } from 'react';
import type { ListSearch } from '../../list-search.ts';
import { overviewQuery } from '../../shop-queries.ts';
import { lazyPart } from '../../ui/lazy.tsx';
import { type AnyReturn, describeStatus, dispositionLabel, type Kind, ORIGIN_LABELS } from '../kinds.ts';
import { fetchPage, peopleQuery } from '../queries.ts';
import styles from './filter-chips.module.css';
import { SearchField } from './search-field.tsx';
import { ViewsBar } from './views-bar.tsx';

const FilterPanel = lazyPart(async () => (await import('./filter-panel.tsx')).FilterPanel);

interface Props {
  kind: Kind;
  search: ListSearch;
  /** What is typed letter by letter becomes one step of the browser's history. */
  onSearch(search: ListSearch, isTyped?: boolean): void;
}

export const ListFilters = ({ kind, search, onSearch }: Props) => {
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
        <StatusSelect kind={kind} search={search} onStatus={(status) => filterBy({ status })} />
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

interface StatusProps extends Pick<Props, 'kind' | 'search'> {
  onStatus(status: string | undefined): void;
}

/** The counts are those of the whole shop. */
const StatusSelect = ({ kind, search, onStatus }: StatusProps) => {
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
        ...kind.statuses.map((status) => ({ value: status, label: label(status) })),
      ]}
      value={search.status ?? ''}
      onChange={({ currentTarget: { value } }) => onStatus(value || undefined)}
      style={{ flex: '1 1 150px', maxWidth: 240 }}
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

const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const dateAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const isMidnight = (at: Date): boolean => at.getHours() + at.getMinutes() + at.getSeconds() === 0;

/** A whole day is shown as a day. */
const formatFrom = (text: string): string => {
  const at = new Date(text);
  return (isMidnight(at) ? date : dateAndTime).format(at);
};
/** The end is not included: up to midnight means up to the day before. */
const formatTo = (text: string): string => {
  const at = new Date(text);
  return isMidnight(at) ? date.format(at.getTime() - 1) : `before ${dateAndTime.format(at)}`;
};

const createdText = ({ createdFrom, createdTo }: ListSearch): string | null => {
  if (!createdFrom && !createdTo) return null;
  if (!createdTo) return `Created since ${formatFrom(createdFrom ?? '')}`;
  const end = formatTo(createdTo);
  if (!createdFrom) return `Created ${end.startsWith('before') ? end : `until ${end}`}`;
  const start = formatFrom(createdFrom);
  return start === end
    ? `Created on ${start}`
    : `Created from ${start}, ${end.startsWith('before') ? end : `until ${end}`}`;
};

/** A text, and what its button takes away. */
type Chip = [text: string, names: (keyof ListSearch)[]];

const chipsOf = (search: ListSearch, personName: (id: string) => string): Chip[] => {
  const { q, status, origin, assignee, storeId, store, companyId, company, isDangerous, disposition } =
    search;
  const created = createdText(search);
  const chips: [string | null | false | undefined, (keyof ListSearch)[]][] = [
    [q && `“${q}”`, ['q']],
    [status && describeStatus(status).label, ['status']],
    [search.open === 'ended' && 'Ended', ['open']],
    [search.overdue && 'Overdue', ['overdue']],
    [assignee && `Assigned to ${personName(assignee)}`, ['assignee']],
    [storeId && `Store ${storeId}`, ['storeId']],
    [store && `Store like “${store}”`, ['store']],
    [companyId && `Company id ${companyId}`, ['companyId']],
    [company && `Company like “${company}”`, ['company']],
    [isDangerous !== undefined && (isDangerous ? 'Dangerous goods' : 'No dangerous goods'), ['isDangerous']],
    [disposition && dispositionLabel(disposition), ['disposition']],
    [origin && ORIGIN_LABELS[origin], ['origin']],
    [created, ['createdFrom', 'createdTo']],
  ];
  return chips.filter((chip): chip is Chip => Boolean(chip[0]));
};

interface FilterChipsProps {
  kind: Kind;
  search: ListSearch;
  onSearch(search: ListSearch): void;
}

const FilterChips = ({ kind, search, onSearch }: FilterChipsProps) => {
  const { data } = useQuery({ ...peopleQuery, enabled: search.assignee !== undefined });
  const personName = (id: string): string =>
    id === 'me'
      ? 'me'
      : id === 'none'
        ? 'no one'
        : (data?.items.find((person) => person.id === id)?.name ?? '…');
  const chips = chipsOf(search, personName);
  if (chips.length === 0) return null;
  const without = (names: (keyof ListSearch)[]) =>
    Object.fromEntries(
      Object.entries(search).filter(([name]) => name !== 'page' && !names.includes(name as never)),
    );
  return (
    <ul className={styles['chips']} aria-label={`Filters of the ${kind.many}`}>
      {chips.map(([text, names]) => (
        <li key={text} className={styles['chip']}>
          <bdi>{text}</bdi>
          <CloseButton
            size="xs"
            radius="xl"
            aria-label={`Remove filter: ${text}`}
            onClick={() => onSearch(without(names))}
          />
        </li>
      ))}
      {chips.length > 1 ? (
        <li>
          <button
            type="button"
            className={styles['clear']}
            onClick={() => onSearch(without(chips.flatMap(([, names]) => names)))}
          >
            Clear filters
          </button>
        </li>
      ) : null}
    </ul>
  );
};
