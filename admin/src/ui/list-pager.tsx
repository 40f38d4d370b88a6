import { ActionIcon, Button, EmptyState, Group, Text, TextInput } from '@mantine/core';
import { ChevronLeft, ChevronRight, type LucideIcon, SearchX } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';

interface Props {
  list: { items: readonly unknown[]; page: number; totalPages: number; total: number };
  noun: readonly [one: string, many: string];
  onPage: (page: number) => void;
  empty?: ReactNode;
  children: ReactNode;
}

export const PagedList = ({ list, noun, onPage, empty, children }: Props) => {
  const count = `${list.total.toLocaleString()} ${list.total === 1 ? noun[0] : noun[1]}`;
  if (list.total === 0) return empty;
  if (list.items.length === 0) return <PastEnd count={count} onFirst={() => onPage(1)} />;
  return (
    <>
      {children}
      <Group justify="space-between" gap="sm">
        <Text size="sm" c="dimmed" aria-live="polite">
          {count}
        </Text>
        <Pages list={list} onPage={onPage} />
      </Group>
    </>
  );
};

interface PagesProps {
  list: { page: number; totalPages: number };
  onPage(page: number): void;
}

/** "Page 3 of 12", where the 3 can be typed over. */
export const Pages = ({ list: { page, totalPages }, onPage }: PagesProps) => {
  const [typed, setTyped] = useState(String(page));
  useEffect(() => setTyped(String(page)), [page]);
  const jump = () => {
    const wanted = Math.min(Math.max(1, Math.trunc(Number(typed))), totalPages);
    if (Number.isNaN(wanted) || wanted === page) setTyped(String(page));
    else onPage(wanted);
  };
  const step = (label: string, Icon: LucideIcon, to: number, disabled: boolean) => (
    <ActionIcon variant="default" aria-label={label} disabled={disabled} onClick={() => onPage(to)}>
      <Icon size={16} aria-hidden />
    </ActionIcon>
  );
  if (totalPages <= 1) return null;
  return (
    <Group component="nav" aria-label="Pages of the list" gap={6} wrap="nowrap">
      {step('Previous page', ChevronLeft, Math.min(page - 1, totalPages), page <= 1)}
      <Text size="sm" c="dimmed" component="label" htmlFor="page-jump">
        Page
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
        of {totalPages.toLocaleString()}
      </Text>
      {step('Next page', ChevronRight, page + 1, page >= totalPages)}
    </Group>
  );
};

/** Shown where a page number is beyond the end of its list. */
export const PastEnd = ({ count, onFirst }: { count: string; onFirst(): void }) => (
  <EmptyState
    py="xl"
    icon={<SearchX size={32} aria-hidden />}
    title="This page is empty"
    description={`There are ${count}, on earlier pages.`}
  >
    <EmptyState.Actions>
      <Button variant="default" onClick={onFirst}>
        To the first page
      </Button>
    </EmptyState.Actions>
  </EmptyState>
);
