import { CloseButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ListSearch } from '../../list-search.ts';
import type { Kind } from '../kinds.ts';
import { describeStatus, dispositionLabel, ORIGIN_LABELS } from '../labels.ts';
import { peopleQuery } from '../queries.ts';
import styles from './filter-chips.module.css';

const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const dateAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const isMidnight = (at: Date): boolean => at.getHours() + at.getMinutes() + at.getSeconds() === 0;

/** A whole day is told as a day. */
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

interface Chip {
  text: string;
  /** What its button takes away. */
  without: (keyof ListSearch)[];
}

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
  return chips.flatMap(([text, without]) => (text ? [{ text, without }] : []));
};

interface Props {
  kind: Kind;
  search: ListSearch;
  onSearch(search: ListSearch): void;
}

/** What the list is narrowed by, each with a button that takes it away. */
export const FilterChips = ({ kind, search, onSearch }: Props) => {
  const { data } = useQuery({ ...peopleQuery, enabled: search.assignee !== undefined });
  const personName = (id: string): string =>
    id === 'me'
      ? 'me'
      : id === 'none'
        ? 'nobody'
        : (data?.items.find((person) => person.id === id)?.name ?? '…');
  const chips = chipsOf(search, personName);
  if (chips.length === 0) return null;
  const without = (names: (keyof ListSearch)[]) =>
    Object.fromEntries(
      Object.entries(search).filter(([name]) => name !== 'page' && !names.includes(name as never)),
    );
  return (
    <ul className={styles['chips']} aria-label={`Filters of the ${kind.many}`}>
      {chips.map((chip) => (
        <li key={chip.text} className={styles['chip']}>
          <bdi>{chip.text}</bdi>
          <CloseButton
            size="xs"
            radius="xl"
            aria-label={`Remove filter: ${chip.text}`}
            onClick={() => onSearch(without(chip.without))}
          />
        </li>
      ))}
      {chips.length > 1 ? (
        <li>
          <button
            type="button"
            className={styles['clear']}
            onClick={() => onSearch(without(chips.flatMap((chip) => chip.without)))}
          >
            Clear filters
          </button>
        </li>
      ) : null}
    </ul>
  );
};
