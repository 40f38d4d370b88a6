import { TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { ChevronLeft } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { Overview } from '../../../../contract/admin.ts';
import { DISPOSITIONS, WAITING_FOR } from '../../../../contract/lifecycle.ts';
import { dayOf, formatNumber } from '../../format.ts';
import type { ListSearch } from '../../list-search.ts';
import { useSession } from '../../session/session.ts';
import { overviewQuery } from '../../shop-queries.ts';
import { texts } from '../../texts.ts';
import { describeStatus, dispositionLabel, type Kind, REPAIRS } from '../kinds.ts';
import { peopleQuery, storesQuery } from '../queries.ts';
import { PanelChoice } from './drop-panel.tsx';
import type { FilterName } from './filter-chips.tsx';
import styles from './toolbar.module.css';

const { choices: names, fields } = texts.list;

interface Choice {
  label: string;
  hint?: string | undefined;
  search: ListSearch;
}

/** Midnight after so many days, in the reader's time zone. */
const midnight = (days: number): string => {
  const at = new Date();
  return new Date(at.getFullYear(), at.getMonth(), at.getDate() + days).toISOString();
};

const NOT_DUE = { overdue: undefined, dueFrom: undefined, dueTo: undefined };
const dueWithin = (from: number, to: number): ListSearch => ({
  ...NOT_DUE,
  dueFrom: midnight(from),
  dueTo: midnight(to),
});

const COMMON: FilterName[] = ['status', 'assignee', 'due', 'waitingFor', 'created', 'open', 'origin'];
const fieldsOf = (kind: Kind): FilterName[] =>
  kind === REPAIRS ? [...COMMON, 'store', 'disposition', 'isDangerous'] : [...COMMON, 'company'];

const countOfStatus = (figures: Overview[Kind['overview']] | undefined, status: string) => {
  const found = figures?.byStatus.find((each) => each.status === status);
  return found && formatNumber(found.count);
};

/** The choices of each filter that has some; what is not listed here is typed. */
const useChoices = (kind: Kind): Partial<Record<FilterName, Choice[]>> => {
  const { user } = useSession();
  const overview = useQuery(overviewQuery).data?.[kind.overview];
  const people = useQuery(peopleQuery).data?.items ?? [];
  const stores = useQuery({ ...storesQuery, enabled: kind === REPAIRS }).data?.items ?? [];
  return {
    status: kind.statuses.map((status) => ({
      label: describeStatus(status).label,
      hint: countOfStatus(overview, status),
      search: { status },
    })),
    assignee: [
      { label: names.me, search: { assignee: 'me' } },
      { label: names.unassigned, search: { assignee: 'none' } },
      ...people
        .filter(({ id }) => id !== user.id)
        .map(({ id, name, email }) => ({ label: name, hint: email, search: { assignee: id } })),
    ],
    due: [
      { label: names.overdue, search: { ...NOT_DUE, overdue: true } },
      { label: names.today, search: dueWithin(0, 1) },
      { label: names.tomorrow, search: dueWithin(1, 2) },
      { label: names.nextDays, search: dueWithin(0, 7) },
    ],
    waitingFor: [
      { label: names.anything, search: { waitingFor: 'any' } },
      ...WAITING_FOR.map((what) => ({ label: names[what], search: { waitingFor: what } })),
      { label: names.nothing, search: { waitingFor: 'none' } },
    ],
    open: [
      { label: names.closed, search: { open: 'ended' } },
      { label: names.openAndClosed, search: { open: 'all' } },
    ],
    origin: [
      { label: names.staff, search: { origin: 'STAFF' } },
      { label: names.program, search: { origin: 'API' } },
    ],
    store: stores.map(({ storeId, open }) => ({
      label: storeId,
      hint: texts.list.storeOpen(open),
      search: { storeId, store: undefined },
    })),
    disposition: DISPOSITIONS.map((disposition) => ({
      label: dispositionLabel(disposition),
      search: { disposition },
    })),
    isDangerous: [
      { label: names.dangerous, search: { isDangerous: true } },
      { label: names.notDangerous, search: { isDangerous: false } },
    ],
  };
};

/** Filters that take any text, and what they make of it. */
const TYPED: Partial<Record<FilterName, (text: string) => ListSearch>> = {
  store: (store) => ({ store, storeId: undefined }),
  company: (company) => ({ company }),
};

interface Props {
  kind: Kind;
  search: ListSearch;
  /** Where a chip was clicked. */
  first: FilterName | null;
  onFilter(change: ListSearch): void;
  onClose(): void;
}

/** First what to filter by, then its value. */
export const FilterMenu = ({ kind, search, first, onFilter, onClose }: Props) => {
  const [name, setName] = useState(first);
  const choices = useChoices(kind);
  const shown = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the choices of another filter get the focus
  useEffect(() => shown.current?.querySelector<HTMLElement>('input, button')?.focus(), [name]);
  if (name === null)
    return (
      <div ref={shown} className={styles['choices']}>
        {fieldsOf(kind).map((each) => (
          <PanelChoice key={each} onChoose={() => setName(each)}>
            {fields[each]}
          </PanelChoice>
        ))}
      </div>
    );
  const choose = (change: ListSearch) => {
    onFilter(change);
    onClose();
  };
  return (
    <>
      <button type="button" className={styles['back']} onClick={() => setName(null)}>
        <ChevronLeft size={14} /> {fields[name]}
      </button>
      <div ref={shown} className={styles['choices']}>
        {name === 'created' ? (
          <div className={styles['days']}>
            <DayInput
              label={texts.list.createdFrom}
              at={search.createdFrom}
              onDay={(createdFrom) => onFilter({ createdFrom })}
            />
            <DayInput
              label={texts.list.createdBefore}
              at={search.createdTo}
              isEnd
              onDay={(createdTo) => onFilter({ createdTo })}
            />
          </div>
        ) : (
          <ChoiceList
            label={fields[name]}
            choices={choices[name] ?? []}
            typed={TYPED[name]}
            search={search}
            onChoose={choose}
          />
        )}
      </div>
    </>
  );
};

/** With more than this a field finds them. */
const FEW = 8;

interface ListProps {
  label: string;
  choices: readonly Choice[];
  typed: ((text: string) => ListSearch) | undefined;
  search: ListSearch;
  onChoose(change: ListSearch): void;
}

const ChoiceList = ({ label, choices, typed, search, onChoose }: ListProps) => {
  const [text, setText] = useState('');
  const words = text.trim().toLowerCase();
  const found = choices.filter((each) => `${each.label} ${each.hint}`.toLowerCase().includes(words));
  const shown =
    typed && words ? [...found, { label: names.contains(text.trim()), search: typed(text.trim()) }] : found;
  const isChosen = (choice: Choice): boolean =>
    Object.entries(choice.search).every(([name, value]) => search[name as keyof ListSearch] === value);
  const choose = (choice: Choice) =>
    // What is chosen already is taken away by a second click.
    onChoose(
      isChosen(choice)
        ? Object.fromEntries(Object.keys(choice.search).map((name) => [name, undefined]))
        : choice.search,
    );
  return (
    <>
      {typed || choices.length > FEW ? (
        <TextInput
          aria-label={label}
          placeholder={texts.list.typeToFind}
          size="xs"
          mb={4}
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
          onKeyDown={({ key }) => {
            const meant = found.find((each) => each.label.toLowerCase() === words);
            const best = meant ?? (typed ? shown.at(-1) : shown[0]);
            if (key === 'Enter' && words && best) choose(best);
          }}
        />
      ) : null}
      {shown.map((choice) => (
        <PanelChoice
          key={`${choice.label} ${choice.hint}`}
          isChosen={isChosen(choice)}
          hint={choice.hint}
          onChoose={() => choose(choice)}
        >
          {choice.label}
        </PanelChoice>
      ))}
      {shown.length === 0 && words ? <p className={styles['hint']}>{texts.list.noChoice}</p> : null}
    </>
  );
};

const dayAt = (at: string, isEnd: boolean): string => dayOf(new Date(Date.parse(at) - (isEnd ? 1 : 0)));
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
  const filtered = at ? dayAt(at, isEnd) : '';
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
      max={dayAt(midnight(1), false)}
      value={typed}
      onChange={({ currentTarget: { value } }) => take(value)}
    />
  );
};
