import { CloseButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dateFormat } from '../../format.ts';
import type { ListSearch } from '../../list-search.ts';
import { texts } from '../../texts.ts';
import { describeStatus, dispositionLabel, ORIGIN_LABELS } from '../kinds.ts';
import { type ListProps, peopleQuery } from '../queries.ts';
import styles from './toolbar.module.css';

const { chips: words } = texts.list;

export type FilterName = keyof typeof texts.list.fields;

const date = dateFormat({ dateStyle: 'medium' });
const dateAndTime = dateFormat({ dateStyle: 'medium', timeStyle: 'short' });
const isMidnight = (at: Date): boolean => at.getHours() + at.getMinutes() + at.getSeconds() === 0;

/** "Created on 17 Nov": whole days are shown as days. The end is not included: up to midnight means up to the day before. */
const spanText = (what: string, from: string | undefined, to: string | undefined): string | null => {
  const [first, last] = [from && new Date(from), to && new Date(to)];
  const start = first && (isMidnight(first) ? date : dateAndTime).format(first);
  if (!last) return start ? words.since(what, start) : null;
  const isDay = isMidnight(last);
  const end = isDay ? date.format(last.getTime() - 1) : dateAndTime.format(last);
  if (!start) return isDay ? words.until(what, end) : words.before(what, end);
  if (start === end) return words.on(what, end);
  return isDay ? words.fromUntil(what, start, end) : words.fromBefore(what, start, end);
};

/** A text, what its cross takes away, and the filter that it belongs to; words belong to none. */
type Chip = [text: string, names: (keyof ListSearch)[], filter: FilterName | null];

const waitingText = (what: NonNullable<ListSearch['waitingFor']>): string => {
  if (what === 'any') return words.waiting;
  return what === 'none' ? words.notWaiting : texts.list.waitingFor[what];
};

const chipsOf = (search: ListSearch, assigneeText: (id: string) => string): Chip[] => {
  const { q, status, origin, assignee, storeId, store, companyId, company, isDangerous, disposition } =
    search;
  const danger = isDangerous ? words.dangerous : words.notDangerous;
  const chips: [text: string | null | false | undefined, ...rest: [Chip[1], Chip[2]]][] = [
    [q && words.words(q), ['q'], null],
    [status && describeStatus(status).label, ['status'], 'status'],
    [search.open === 'ended' && words.closed, ['open'], 'open'],
    [search.overdue && words.overdue, ['overdue'], 'due'],
    [spanText(words.due, search.dueFrom, search.dueTo), ['dueFrom', 'dueTo'], 'due'],
    [search.waitingFor && waitingText(search.waitingFor), ['waitingFor'], 'waitingFor'],
    [assignee && assigneeText(assignee), ['assignee'], 'assignee'],
    [storeId && words.store(storeId), ['storeId'], 'store'],
    [store && words.storeLike(store), ['store'], 'store'],
    [companyId && words.companyId(companyId), ['companyId'], 'company'],
    [company && words.companyLike(company), ['company'], 'company'],
    [isDangerous !== undefined && danger, ['isDangerous'], 'isDangerous'],
    [disposition && dispositionLabel(disposition), ['disposition'], 'disposition'],
    [origin && ORIGIN_LABELS[origin], ['origin'], 'origin'],
    [spanText(words.created, search.createdFrom, search.createdTo), ['createdFrom', 'createdTo'], 'created'],
  ];
  return chips.filter((chip): chip is Chip => Boolean(chip[0]));
};

export const FilterChips = ({
  kind,
  search,
  onSearch,
  onEdit,
}: ListProps & { onEdit(filter: FilterName): void }) => {
  const { data } = useQuery({ ...peopleQuery, enabled: search.assignee !== undefined });
  const assigneeText = (id: string): string => {
    if (id === 'none') return words.unassigned;
    if (id === 'me') return words.assignedTo(words.me);
    return words.assignedTo(data?.items.find((person) => person.id === id)?.name ?? '…');
  };
  const chips = chipsOf(search, assigneeText);
  if (chips.length === 0) return null;
  const without = (names: (keyof ListSearch)[]) =>
    Object.fromEntries(
      Object.entries(search).filter(([name]) => name !== 'page' && !names.includes(name as never)),
    );
  return (
    <ul className={styles['chips']} aria-label={texts.list.filtersOf(kind.many)}>
      {chips.map(([text, names, filter]) => (
        <li key={text} className={styles['chip']}>
          {filter === null ? (
            <bdi>{text}</bdi>
          ) : (
            <button type="button" onClick={() => onEdit(filter)}>
              <bdi>{text}</bdi>
            </button>
          )}
          <CloseButton
            size="xs"
            radius="xl"
            aria-label={texts.list.removeFilter(text)}
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
            {texts.list.clearFilters}
          </button>
        </li>
      ) : null}
    </ul>
  );
};
