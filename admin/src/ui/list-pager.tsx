import { ActionIcon, Button, Group, Text, TextInput } from '@mantine/core';
import { ChevronLeft, ChevronRight, type LucideIcon } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { formatNumber } from '../format.ts';
import { texts } from '../texts.ts';
import { EmptyState } from './empty-state.tsx';

const words = texts.common;

interface Props {
  list: { items: readonly unknown[]; page: number; totalPages: number; total: number };
  noun: readonly [one: string, many: string];
  onPage: (page: number) => void;
  empty?: ReactNode;
  children: ReactNode;
}

export const PagedList = ({ list, noun, onPage, empty, children }: Props) => {
  const count = `${formatNumber(list.total)} ${list.total === 1 ? noun[0] : noun[1]}`;
  if (list.total === 0) return empty;
  if (list.items.length === 0) return <PastEnd count={count} onFirst={() => onPage(1)} />;
  return (
    <>
      {children}
      <ListFooter count={count} list={list} onPage={onPage} />
    </>
  );
};

interface PagesProps {
  list: { page: number; totalPages: number };
  onPage(page: number): void;
}

export const ListFooter = ({ count, ...pages }: PagesProps & { count: string }) => (
  <Group justify="space-between" gap="sm">
    <Text size="sm" c="dimmed" aria-live="polite" className="tabular-numbers">
      {count}
    </Text>
    <Pages {...pages} />
  </Group>
);

/** "Page 3 of 12", where the 3 can be typed over. */
const Pages = ({ list: { page, totalPages }, onPage }: PagesProps) => {
  const [typed, setTyped] = useState(String(page));
  useEffect(() => setTyped(String(page)), [page]);
  const jump = () => {
    const wanted = Math.min(Math.max(1, Math.trunc(Number(typed))), totalPages);
    if (Number.isNaN(wanted) || wanted === page) setTyped(String(page));
    else onPage(wanted);
  };
  const step = (label: string, Icon: LucideIcon, to: number, disabled: boolean) => (
    <ActionIcon variant="default" aria-label={label} disabled={disabled} onClick={() => onPage(to)}>
      <Icon />
    </ActionIcon>
  );
  if (totalPages <= 1) return null;
  return (
    <Group component="nav" aria-label={words.pagesOfList} gap={6} wrap="nowrap">
      {step(words.previousPage, ChevronLeft, Math.min(page - 1, totalPages), page <= 1)}
      <Text size="sm" c="dimmed" component="label" htmlFor="page-jump">
        {words.page}
      </Text>
      <TextInput
        id="page-jump"
        size="xs"
        w={56}
        inputMode="numeric"
        styles={{ input: { textAlign: 'center' } }}
        value={typed}
        onChange={({ currentTarget }) => setTyped(currentTarget.value.replaceAll(/\D/g, ''))}
        onFocus={({ currentTarget }) => currentTarget.select()}
        onBlur={jump}
        onKeyDown={({ key }) => {
          if (key === 'Enter') jump();
        }}
      />
      <Text size="sm" c="dimmed" className="tabular-numbers" style={{ whiteSpace: 'nowrap' }}>
        {words.ofPages(totalPages)}
      </Text>
      {step(words.nextPage, ChevronRight, page + 1, page >= totalPages)}
    </Group>
  );
};

/** Shown where a page number is beyond the end of its list. */
export const PastEnd = ({ count, onFirst }: { count: string; onFirst(): void }) => (
  <EmptyState title={words.emptyPage} description={words.onEarlierPages(count)}>
    <Button variant="default" onClick={onFirst}>
      {words.firstPage}
    </Button>
  </EmptyState>
);
