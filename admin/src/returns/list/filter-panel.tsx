import { Autocomplete, NativeSelect, Paper, SimpleGrid, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { DISPOSITIONS } from '../../../../contract/lifecycle.ts';
import type { ListSearch } from '../../list-search.ts';
import { dispositionLabel, type Kind, ORIGIN_LABELS, REPAIRS } from '../kinds.ts';
import { PersonSelect } from '../person-select.tsx';
import { storesQuery } from '../queries.ts';
import { SearchField } from './search-field.tsx';

interface Props {
  kind: Kind;
  search: ListSearch;
  onFilter(change: ListSearch): void;
}

type Choice = { value: string; label: string };
const choices = (any: string, labels: readonly Choice[]): Choice[] => [{ value: '', label: any }, ...labels];

const ORIGINS = choices(
  'Anyone',
  Object.entries(ORIGIN_LABELS).map(([value, label]) => ({ value, label: label.replace('Created by ', '') })),
);
const DANGER = choices('Any', [
  { value: 'true', label: 'Only dangerous goods' },
  { value: 'false', label: 'No dangerous goods' },
]);
const DISPOSITION = choices(
  'Any',
  DISPOSITIONS.map((value) => ({ value, label: dispositionLabel(value) })),
);
const STATE = choices('Open', [
  { value: 'ended', label: 'Ended' },
  { value: 'all', label: 'Open and ended' },
]);

export const FilterPanel = ({ kind, search, onFilter }: Props) => {
  const select = (
    label: string,
    name: keyof ListSearch,
    data: Choice[],
    read = (value: string): unknown => value,
  ) => (
    <NativeSelect
      label={label}
      data={data}
      value={search[name] === undefined ? '' : String(search[name])}
      onChange={({ currentTarget: { value } }) =>
        onFilter({ [name]: value === '' ? undefined : read(value) })
      }
    />
  );
  return (
    <Paper withBorder p="md" component="fieldset" m={0} aria-label="More filters">
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="sm" verticalSpacing="sm">
        <PersonSelect
          label="Assigned to"
          placeholder="Anyone"
          clearable
          value={search.assignee === 'me' ? null : (search.assignee ?? null)}
          onChange={(assignee) => onFilter({ assignee })}
          onClear={() => onFilter({ assignee: undefined })}
          {...(search.assignee === 'me' ? { placeholder: 'Me' } : {})}
        />
        {kind === REPAIRS ? (
          <StoreFilter search={search} onFilter={onFilter} />
        ) : (
          <SearchField
            label="Company"
            withLabel
            value={search.company ?? ''}
            onSearch={(company) => onFilter({ company: company || undefined })}
          />
        )}
        <DayInput
          label="Created from"
          at={search.createdFrom}
          onDay={(createdFrom) => onFilter({ createdFrom })}
        />
        <DayInput
          label="Created until"
          at={search.createdTo}
          isEnd
          onDay={(createdTo) => onFilter({ createdTo })}
        />
        {select('Open or ended', 'open', STATE)}
        {select('Created by', 'origin', ORIGINS)}
        {kind === REPAIRS
          ? select('Dangerous goods', 'isDangerous', DANGER, (value) => value === 'true')
          : null}
        {kind === REPAIRS ? select('Disposition', 'disposition', DISPOSITION) : null}
      </SimpleGrid>
    </Paper>
  );
};

/** One of the stores exactly, or a part of their names. */
const StoreFilter = ({ search, onFilter }: Pick<Props, 'search' | 'onFilter'>) => {
  const { data } = useQuery(storesQuery);
  const stores = data?.items ?? [];
  const present = search.storeId ?? search.store ?? '';
  const [typed, setTyped] = useState<string | null>(null);
  const choose = (value: string) => {
    setTyped(null);
    if (value === present) return;
    const isStore = stores.some(({ storeId }) => storeId === value);
    onFilter({ storeId: isStore ? value : undefined, store: isStore || !value ? undefined : value });
  };
  return (
    <Autocomplete
      label="Store"
      placeholder="Any store"
      data={stores.map(({ storeId }) => storeId)}
      renderOption={({ option }) =>
        `${option.value} · ${stores.find(({ storeId }) => storeId === option.value)?.open ?? 0} open`
      }
      limit={50}
      maxDropdownHeight={260}
      value={typed ?? present}
      onChange={setTyped}
      onOptionSubmit={choose}
      onBlur={() => choose((typed ?? present).trim())}
      onKeyDown={({ key }) => {
        if (key === 'Enter' && typed !== null) choose(typed.trim());
      }}
    />
  );
};

const DAY_MS = 86_400_000;

/** For an input of the kind `date`, which takes days as Swedes write them: 2026-11-17. */
const dayOf = (at: string, isEnd: boolean): string =>
  new Date(Date.parse(at) - (isEnd ? 1 : 0)).toLocaleDateString('sv');
/** The day's first midnight, or the one after it. */
const instantOf = (day: string, isEnd: boolean): string => {
  const start = new Date(`${day}T00:00`);
  if (isEnd) start.setDate(start.getDate() + 1);
  return start.toISOString();
};

interface DayProps {
  label: string;
  at: string | undefined;
  isEnd?: boolean;
  onDay(at: string | undefined): void;
}

/** While a year is typed, the field holds the years 0002, 0020 and 0202 for a moment. */
const FIRST_YEAR = '1900';

const DayInput = ({ label, at, isEnd = false, onDay }: DayProps) => {
  const filtered = at ? dayOf(at, isEnd) : '';
  const [before, setBefore] = useState(filtered);
  const [typed, setTyped] = useState(filtered);
  if (filtered !== before) {
    setBefore(filtered);
    setTyped(filtered);
  }
  const take = (day: string) => {
    setTyped(day);
    if (day === '' || day >= FIRST_YEAR) onDay(day === '' ? undefined : instantOf(day, isEnd));
  };
  return (
    <TextInput
      type="date"
      label={label}
      max={dayOf(new Date(Date.now() + DAY_MS).toISOString(), false)}
      value={typed}
      onChange={({ currentTarget: { value } }) => take(value)}
    />
  );
};
