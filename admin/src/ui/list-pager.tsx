import { Group, Pagination, Text } from '@mantine/core';

interface Props {
  list: { page: number; totalPages: number; total: number };
  /** What the items are called. */
  noun: readonly [one: string, many: string];
  onPage: (page: number) => void;
}

/** How many items a list has, and its page numbers. */
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
