import { Loader, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import {
  CancelledError,
  keepPreviousData,
  queryOptions,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { ScanLine } from 'lucide-react';
import { Fragment, type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { LENGTH } from '../../../../contract/lengths.ts';
import { api } from '../../api.ts';
import { texts } from '../../texts.ts';
import { focusOnPage } from '../../ui/focus.ts';
import { useScanner } from '../../ui/shortcuts.ts';
import type { AnyReturn, Kind } from '../kinds.ts';
import type { ListPage } from '../queries.ts';
import { findByNumberToo } from '../return-number.ts';
import styles from './intake.module.css';
import { type Known, SEPARATOR } from './known.ts';

// One field that finds what is known from earlier returns, and fills it in.

const words = texts.intake;

const PAUSE_MS = 150;
const FEWEST_LETTERS = 2;
const MOST_FOUND = 20;

const earlierQuery = <Item extends AnyReturn>(kind: Kind, text: string) =>
  queryOptions({
    queryKey: [kind.path, 'earlier', text],
    queryFn: ({ signal }) =>
      findByNumberToo(text, async (q) => {
        const query = { q, sort: 'number', order: 'desc', limit: MOST_FOUND };
        return (await api.get<ListPage<Item>>(kind.path, query, signal)).items;
      }),
    enabled: text.length >= FEWEST_LETTERS,
    staleTime: 5_000,
    retry: false,
  });

interface Props<Item> {
  kind: Kind;
  label: string;
  hint: string;
  knownOf(items: readonly Item[], typed: string): Known<Item>[];
  onPick(known: Known<Item>): void;
  /** Nothing is known about it. */
  onUnknown(typed: string): void;
}

/** A scan, or Enter, picks the only match at once. */
export const LookUp = <Item extends AnyReturn>(props: Props<Item>) => {
  const { label, hint, onPick, onUnknown } = props;
  const listId = useId();
  const field = useRef<HTMLInputElement>(null);
  const [said, say] = useState('');
  const [active, setActive] = useState(0);
  const { text, setText, known, isCurrent, isFetching, find } = useKnown(props);
  useEffect(() => focusOnPage(field.current), []);
  const isOpen = text.trim() !== '' && known.length > 0;

  const leave = (message: string) => {
    setText('');
    setActive(0);
    say(message);
  };
  const pick = (chosen: Known<Item>) => {
    leave(words.filledIn(chosen.item.rmaNumber));
    onPick(chosen);
  };
  const startNew = (typed: string, message: string) => {
    leave(message);
    onUnknown(typed);
  };
  const pickAt = (index: number) => {
    const chosen = known[index];
    if (chosen) pick(chosen);
    else startNew(text.trim(), '');
  };
  const take = async (typed: string, seen?: Known<Item>) => {
    setText(typed);
    const found = await find(typed);
    if (found === 'cancelled') return;
    const exact = found?.filter(({ isExact }) => isExact) ?? [];
    const stillThere = found?.find(({ key }) => key === seen?.key);
    if (exact[0] && exact.length === 1) pick(exact[0]);
    else if (stillThere) pick(stillThere);
    else if (found && found.length > 0) say(words.choose);
    else startNew(typed, found ? words.notFound(typed) : words.lookUpFailed);
  };
  useScanner((scanned) => {
    field.current?.focus();
    void take(scanned);
  });
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && isOpen) {
      event.preventDefault();
      setActive((active + step + known.length + 1) % (known.length + 1));
    }
    if (event.key === 'Escape') setText('');
    if (event.key !== 'Enter' || event.ctrlKey || event.metaKey || text.trim() === '') return;
    event.preventDefault();
    if (isOpen && (isCurrent || active === known.length)) pickAt(active);
    // The list is still that of the letters before: the match that is marked in it, if it fits the rest too.
    else void take(text.trim(), isOpen ? known[active] : undefined);
  };
  return (
    <div className={styles['look-up']}>
      <TextInput
        ref={field}
        label={label}
        placeholder={hint}
        size="lg"
        role="combobox"
        aria-expanded={isOpen}
        aria-controls={listId}
        aria-activedescendant={isOpen ? `${listId}-${active}` : undefined}
        aria-autocomplete="list"
        autoComplete="off"
        maxLength={LENGTH.name}
        leftSection={<ScanLine size={20} />}
        rightSection={isFetching ? <Loader size="xs" aria-hidden /> : null}
        value={text}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value);
          setActive(0);
          say('');
        }}
        onKeyDown={onKeyDown}
      />
      <Matches
        id={listId}
        isOpen={isOpen}
        known={known}
        typed={text.trim()}
        active={active}
        onActive={setActive}
        onPick={pickAt}
      />
      <p role="status" className={styles['said']}>
        {said}
      </p>
    </div>
  );
};

interface MatchesProps {
  id: string;
  isOpen: boolean;
  known: readonly Pick<Known<unknown>, 'key' | 'title' | 'detail'>[];
  typed: string;
  active: number;
  onActive(index: number): void;
  onPick(index: number): void;
}

/** What is known, and below it a new one. */
const Matches = ({ id, isOpen, known, typed, active, onActive, onPick }: MatchesProps) => (
  <div id={id} role="listbox" aria-label={words.matches} className={styles['matches']} hidden={!isOpen}>
    {[...known, null].map((each, index) => (
      // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
      <div
        key={each?.key ?? 'new'}
        id={`${id}-${index}`}
        role="option"
        tabIndex={-1}
        aria-selected={index === active}
        className={styles['match']}
        onClick={() => onPick(index)}
        onPointerMove={() => onActive(index)}
      >
        <bdi>{each?.title ?? words.addNew(typed)}</bdi>
        <small>
          {/* Each on its own: a name from right to left would take the number after it along. */}
          {each?.detail.split(SEPARATOR).map((part, at) => (
            <Fragment key={part}>
              {at > 0 ? SEPARATOR : null}
              <bdi>{part}</bdi>
            </Fragment>
          ))}
        </small>
      </div>
    ))}
  </div>
);

const useKnown = <Item extends AnyReturn>({ kind, knownOf }: Props<Item>) => {
  const [text, setText] = useState('');
  const [paused] = useDebouncedValue(text.trim(), PAUSE_MS);
  /** What Enter asked for is shown without a pause. */
  const [asked, setAsked] = useState('');
  const searched = asked === text.trim() ? asked : paused;
  const queryClient = useQueryClient();
  const { data, isFetching, isPlaceholderData } = useQuery({
    ...earlierQuery<Item>(kind, searched),
    placeholderData: keepPreviousData,
  });
  const exactFirst = (found: Known<Item>[]) => found.sort((a, b) => Number(b.isExact) - Number(a.isExact));
  const isSearched = searched.length >= FEWEST_LETTERS;
  return {
    text,
    setText,
    known: isSearched && data ? exactFirst(knownOf(data, searched)) : [],
    isCurrent: isSearched && searched === text.trim() && data !== undefined && !isPlaceholderData,
    isFetching,
    /** null where the service cannot be reached; cancelled when the person types on. */
    find: async (typed: string): Promise<Known<Item>[] | 'cancelled' | null> => {
      setAsked(typed);
      try {
        const found = await queryClient.fetchQuery(earlierQuery<Item>(kind, typed));
        return exactFirst(knownOf(found, typed));
      } catch (error) {
        return error instanceof CancelledError ? 'cancelled' : null;
      }
    },
  };
};
