import { Button, EmptyState, Group, Pagination, Text } from '@mantine/core';
import { SearchX } from 'lucide-react';
import type { ReactNode } from 'react';

interface PagerProps {
  list: { page: number; totalPages: number; total: number };
  noun: readonly [one: string, many: string];
  onPage: (page: number) => void;
}

interface ListProps extends PagerProps {
  list: PagerProps['list'] & { items: readonly unknown[] };
  /** In place of a list that has nothing at all. */
  empty?: ReactNode;
  children: ReactNode;
}

export const PagedList = ({ empty, children, ...pager }: ListProps) => {
  const { list, noun, onPage } = pager;
  if (list.items.length > 0)
    return (
      <>
        {children}
        <ListPager {...pager} />
      </>
    );
  if (list.total === 0) return empty;
  return <PastEnd count={`${list.total.toLocaleString()} ${noun[1]}`} onFirst={() => onPage(1)} />;
};

const ListPager = ({ list: { page, totalPages, total }, noun, onPage }: PagerProps) => (
  <Group justify="space-between" gap="sm">
    <Text size="sm" c="dimmed" aria-live="polite">
      {total.toLocaleString()} {total === 1 ? noun[0] : noun[1]}
      {totalPages > 1 ? `, page ${page} of ${totalPages}` : ''}
    </Text>
    {totalPages > 1 ? (
      <Pagination
        component="nav"
        aria-label="Pages of the list"
        total={totalPages}
        value={Math.min(page, totalPages)}
        onChange={onPage}
        siblings={0}
        size="sm"
        getItemProps={(item) => ({ 'aria-label': `Page ${item}` })}
        getControlProps={(control) => ({ 'aria-label': CONTROLS[control] })}
      />
    ) : null}
  </Group>
);

const CONTROLS = { first: 'First page', previous: 'Previous page', next: 'Next page', last: 'Last page' };

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
