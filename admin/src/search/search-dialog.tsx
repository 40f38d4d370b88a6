import { Group, Kbd, Loader, Modal, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { type KeyboardEvent, useId, useState } from 'react';
import type { ExactMatch, FoundReturn } from '../../../contract/admin-search.ts';
import { LENGTH } from '../../../contract/lengths.ts';
import { StatusBadge } from '../returns/badges.tsx';
import { KIND_OF } from '../returns/kinds.ts';
import { onlyMatch, searchQuery } from '../returns/queries.ts';
import { OrErased } from '../ui/two-lines.tsx';
import styles from './search-dialog.module.css';

const PAUSE_MS = 150;

interface Props {
  text: string;
  onText(text: string): void;
  onClose(): void;
}

const useFound = (text: string, onClose: () => void) => {
  const [searched] = useDebouncedValue(text.trim(), PAUSE_MS);
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { data, error, isFetching, isPlaceholderData } = useQuery({
    ...searchQuery(searched),
    placeholderData: keepPreviousData,
  });
  const open = ({ kind, id }: FoundReturn) => {
    onClose();
    void navigate({ to: KIND_OF[kind].detail, params: { id } });
  };
  /** Enter came before the answer, as with a scanner: the one return that is meant opens, several are shown. */
  const openWhenFound = async (typed: string) => {
    const only = onlyMatch(await queryClient.fetchQuery(searchQuery(typed)).catch(() => []));
    if (only) open(only);
  };
  return {
    searched,
    found: searched === '' ? [] : (data ?? []),
    isCurrent: searched === text.trim() && data !== undefined && !isPlaceholderData,
    isFetching,
    error,
    open,
    openWhenFound,
  };
};

const KEYS = [
  ['↑ ↓', 'choose'],
  ['Enter', 'open'],
  ['Esc', 'close'],
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

export const SearchDialog = ({ text, onText, onClose }: Props) => {
  const [active, setActive] = useState(0);
  const listId = useId();
  const { searched, found, isCurrent, isFetching, error, open, openWhenFound } = useFound(text, onClose);
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && found.length > 0) {
      event.preventDefault();
      setActive((active + step + found.length) % found.length);
    }
    if (event.key !== 'Enter' || text.trim() === '') return;
    event.preventDefault();
    const chosen = found[active];
    if (!isCurrent) void openWhenFound(text.trim());
    else if (chosen) open(chosen);
  };
  return (
    <Modal
      opened
      onClose={onClose}
      withCloseButton={false}
      padding={0}
      size="lg"
      yOffset="10vh"
      attributes={{ content: { 'aria-label': 'Search returns' } }}
    >
      <TextInput
        variant="unstyled"
        size="lg"
        data-autofocus
        role="combobox"
        aria-label="Number, serial, tracking, reference, order, phone or customer"
        placeholder="Number, serial, tracking, reference, order, phone or customer"
        aria-expanded={found.length > 0}
        aria-controls={listId}
        aria-activedescendant={found[active] ? `${listId}-${active}` : undefined}
        aria-autocomplete="list"
        autoComplete="off"
        maxLength={LENGTH.name}
        classNames={{ input: styles['input'] ?? '' }}
        leftSection={<Search size={18} aria-hidden />}
        rightSection={isFetching ? <Loader size="xs" aria-hidden /> : null}
        value={text}
        onChange={({ currentTarget }) => {
          onText(currentTarget.value);
          setActive(0);
        }}
        onKeyDown={onKeyDown}
      />
      <FoundList id={listId} found={found} active={active} onOpen={open} onActive={setActive} />
      <Text size="sm" px="md" py="sm" c="dimmed" role="status" className={styles['said'] ?? ''}>
        {error ? error.message : saidOf(searched, found.length, isCurrent)}
      </Text>
      <Keys />
    </Modal>
  );
};

const MOST = 10;

const saidOf = (searched: string, count: number, isCurrent: boolean): string => {
  if (searched === '') return 'Type or scan. Repairs and trade returns are searched together.';
  if (!isCurrent) return '';
  if (count === 0)
    return `Nothing was found for “${searched}”. Number, reference, order, product, serial, tracking and customer are searched; every word must be found.`;
  if (count === MOST) return `The newest ${MOST} are shown. Type more to narrow it down.`;
  return count === 1 ? 'One was found.' : `${count} were found.`;
};

const MATCHES: Record<ExactMatch, string> = {
  number: 'This number',
  serial: 'This serial number',
  tracking: 'This tracking number',
  reference: 'This reference',
  order: 'This order',
};

interface FoundListProps {
  id: string;
  found: readonly FoundReturn[];
  active: number;
  onOpen(found: FoundReturn): void;
  onActive(index: number): void;
}

const FoundList = ({ id, found, active, onOpen, onActive }: FoundListProps) => (
  <div id={id} role="listbox" aria-label="Found" className={styles['list']}>
    {found.map((each, index) => (
      // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
      <div
        key={each.id}
        id={`${id}-${index}`}
        role="option"
        tabIndex={-1}
        aria-selected={index === active}
        className={styles['option']}
        onClick={() => onOpen(each)}
        onPointerMove={() => onActive(index)}
      >
        <span className={styles['number']}>{each.rmaNumber}</span>
        <span className={styles['who']}>
          <bdi>
            <OrErased>{each.customerName}</OrErased>
          </bdi>
          <small>
            <bdi>{each.about}</bdi> · {each.match ? MATCHES[each.match] : <bdi>{each.orderNumber}</bdi>}
          </small>
        </span>
        <StatusBadge status={each.status} />
      </div>
    ))}
  </div>
);
