import { Button, EmptyState, Group, Pagination, Text } from '@mantine/core';
import { SearchX } from 'lucide-react';

interface Props {
  list: { page: number; totalPages: number; total: number };
  noun: readonly [one: string, many: string];
  onPage: (page: number) => void;
}

export const ListPager = ({ list: { page, totalPages, total }, noun, onPage }: Props) => (
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

interface PastEndProps {
  count: string;
  onFirst(): void;
}

/** Shown where a page number is beyond the end of its list. */
export const PastEnd = ({ count, onFirst }: PastEndProps) => (
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
