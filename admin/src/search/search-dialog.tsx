import { Group, Kbd, Loader, Modal, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { CornerDownRight, Search } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useId, useState } from 'react';
import type { FoundReturn } from '../../../contract/admin-search.ts';
import { LENGTH } from '../../../contract/lengths.ts';
import { StatusBadge } from '../returns/badges.tsx';
import { type AnyReturn, KIND_OF, KINDS } from '../returns/kinds.ts';
import { detailQuery, onlyMatch, searchQuery } from '../returns/queries.ts';
import { texts } from '../texts.ts';
import { wordFor } from '../ui/known-word.ts';
import { OrErased } from '../ui/two-lines.tsx';
import { type Command, isNamed, recentReturns, useCommands, useOpenReturn } from './commands.ts';
import styles from './search-dialog.module.css';

const PAUSE_MS = 150;

interface Props {
  text: string;
  onText(text: string): void;
  onClose(): void;
}

type Shown = Pick<FoundReturn, 'kind' | 'id' | 'rmaNumber' | 'status' | 'customerName' | 'about'> & {
  hint: string;
  /** What was typed is all of its number, serial, tracking number, reference or order. */
  isExact: boolean;
};

const asShown = (found: FoundReturn): Shown => ({
  ...found,
  isExact: found.match !== null,
  hint: found.match ? wordFor(texts.search.matches, found.match) : found.orderNumber,
});

/** What was opened last, without the one that is open; what is gone since is not shown. */
const useRecent = (): Shown[] => {
  const openId = useOpenReturn()?.id;
  const [all] = useState(recentReturns);
  const recent = all.filter(({ id }) => id !== openId);
  const read = useQueries({
    queries: recent.map(({ path, id }) =>
      detailQuery<AnyReturn>(KINDS.find((each) => each.path === path) ?? KINDS[0], id),
    ),
  });
  return read.flatMap(({ data }) => {
    if (!data) return [];
    const { id, rmaNumber, status, customerName } = data;
    const own =
      'faultyItem' in data
        ? { kind: 'OFFLINE_REPAIR' as const, about: data.faultyItem.productName, hint: data.orderNumber }
        : { kind: 'TRADE_RETURN' as const, about: data.companyName, hint: data.tradeOrderNumber };
    return [{ id, rmaNumber, status, customerName, isExact: false, ...own }];
  });
};

const useFound = (text: string, onClose: () => void) => {
  const [searched] = useDebouncedValue(text.trim(), PAUSE_MS);
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const recent = useRecent();
  const { data, error, isFetching, isPlaceholderData } = useQuery({
    ...searchQuery(searched),
    placeholderData: keepPreviousData,
  });
  const open = ({ kind, id }: Pick<Shown, 'kind' | 'id'>) => {
    onClose();
    void navigate({ to: KIND_OF[kind].detail, params: { id } });
  };
  const run = ({ to, search = {} }: Command) => {
    onClose();
    void navigate({ to, search } as never);
  };
  /** Enter came before the response, as with a scanner: the one return that is meant opens, several are shown; else the command runs. */
  const openWhenFound = async (typed: string, command: Command | undefined) => {
    const results = await queryClient.fetchQuery(searchQuery(typed)).catch(() => null);
    const only = results && onlyMatch(results);
    const isMeant = results?.length === 0 || (command && isNamed(command, typed));
    if (only && (only.match !== null || !isMeant)) open(only);
    else if (results && command && isMeant) run(command);
  };
  return {
    searched,
    returns: searched === '' ? recent : (data ?? []).map(asShown),
    isCurrent: searched === text.trim() && (searched === '' || (data !== undefined && !isPlaceholderData)),
    isFetching,
    error,
    open,
    run,
    openWhenFound,
  };
};

const KEYS = [
  ['↑ ↓', texts.search.keys.choose],
  ['Enter', texts.search.keys.open],
  ['Esc', texts.search.keys.close],
] as const;

const Keys = () => (
  <Group gap="lg" className={styles['keys'] ?? ''} aria-hidden>
    {KEYS.map(([key, label]) => (
      <span key={key}>
        <Kbd size="xs">{key}</Kbd> {label}
      </span>
    ))}
  </Group>
);

/** One line of the list: a command, or a return. */
interface Option {
  key: string;
  group: string;
  run(): void;
  content: ReactNode;
}

export const SearchDialog = ({ text, onText, onClose }: Props) => {
  const [active, setActive] = useState(0);
  const listId = useId();
  const { searched, returns, isCurrent, isFetching, error, open, run, openWhenFound } = useFound(
    text,
    onClose,
  );
  const meant = useCommands(text).toSorted((a, b) => Number(isNamed(b, text)) - Number(isNamed(a, text)));
  const commands = meant.map(
    (command): Option => ({
      key: command.name,
      group: texts.search.commands,
      run: () => run(command),
      content: <CommandLine command={command} />,
    }),
  );
  const found = returns.map(
    (each): Option => ({
      key: each.id,
      group: searched === '' ? texts.search.recent : texts.search.returns,
      run: () => open(each),
      content: <ReturnLine found={each} />,
    }),
  );
  // Returns come before commands, unless the name of one was typed, and of no return.
  const isCommand =
    meant[0] !== undefined && isNamed(meant[0], text) && !returns.some(({ isExact }) => isExact);
  const options = isCommand ? [...commands, ...found] : [...found, ...commands];
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && options.length > 0) {
      event.preventDefault();
      setActive((active + step + options.length) % options.length);
    }
    if (event.key !== 'Enter') return;
    event.preventDefault();
    if (isCurrent || active > 0) options[active]?.run();
    else void openWhenFound(text.trim(), meant[0]);
  };
  return (
    <Modal
      opened
      onClose={onClose}
      withCloseButton={false}
      padding={0}
      size="lg"
      yOffset="10vh"
      attributes={{ content: { 'aria-label': texts.search.dialog } }}
    >
      <TextInput
        variant="unstyled"
        size="lg"
        data-autofocus
        role="combobox"
        aria-label={texts.search.field}
        placeholder={texts.search.field}
        aria-expanded={options.length > 0}
        aria-controls={listId}
        aria-activedescendant={options[active] ? `${listId}-${active}` : undefined}
        aria-autocomplete="list"
        autoComplete="off"
        maxLength={LENGTH.name}
        classNames={{ input: styles['input'] ?? '' }}
        leftSection={<Search size={18} />}
        rightSection={isFetching ? <Loader size="xs" aria-hidden /> : null}
        value={text}
        onChange={({ currentTarget }) => {
          onText(currentTarget.value);
          setActive(0);
        }}
        onKeyDown={onKeyDown}
      />
      <OptionList id={listId} options={options} active={active} onActive={setActive} />
      <Text size="sm" px="md" py="xs" c="dimmed" role="status" className={styles['said'] ?? ''}>
        {error ? error.message : saidOf(searched, found.length, isCurrent)}
      </Text>
      <Keys />
    </Modal>
  );
};

const MOST = 10;

const saidOf = (searched: string, count: number, isCurrent: boolean): string => {
  if (searched === '' || !isCurrent) return '';
  if (count === 0) return `${texts.search.nothing(searched)} ${texts.search.nothingHelp}`;
  return count === MOST ? texts.search.most(MOST) : texts.search.found(count);
};

interface ListProps {
  id: string;
  options: readonly Option[];
  active: number;
  onActive(index: number): void;
}

const OptionList = ({ id, options, active, onActive }: ListProps) => (
  <div id={id} role="listbox" aria-label={texts.search.results} className={styles['list']}>
    {[...Map.groupBy(options.entries(), ([, { group }]) => group)].map(([group, lines]) => (
      // biome-ignore lint/a11y/useSemanticElements: a group of options, not of fields
      <div key={group} role="group" aria-label={group}>
        <p className={styles['group']} aria-hidden>
          {group}
        </p>
        {lines.map(([index, { key, run, content }]) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
          <div
            key={key}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            className={styles['option']}
            onClick={run}
            onPointerMove={() => onActive(index)}
            ref={(line) => {
              if (index === active) line?.scrollIntoView({ block: 'nearest' });
            }}
          >
            {content}
          </div>
        ))}
      </div>
    ))}
  </div>
);

const CommandLine = ({ command: { name } }: { command: Command }) => (
  <span className={styles['command']}>
    <CornerDownRight /> {texts.search.names[name][0]}
  </span>
);

const ReturnLine = ({ found }: { found: Shown }) => (
  <>
    <span className={styles['number']}>{found.rmaNumber}</span>
    <span className={styles['who']}>
      <bdi>
        <OrErased>{found.customerName}</OrErased>
      </bdi>
      <small>
        <bdi>{found.about}</bdi> · <bdi>{found.hint}</bdi>
      </small>
    </span>
    <StatusBadge status={found.status} />
  </>
);
