import { ActionIcon, Group, NativeSelect, Text, TextInput } from '@mantine/core';
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { useEffect, useState } from 'react';
import { countOf, type Kind } from '../kinds.ts';
import { PAGE_SIZES } from '../remembered.ts';

interface Props {
  kind: Kind;
  list: { page: number; totalPages: number; total: number };
  pageSize: number;
  onPage(page: number): void;
  onPageSize(size: number): void;
}

/** How many there are, how many a page shows, and the way to any page. */
export const ListFooter = ({
  kind,
  list: { page, totalPages, total },
  pageSize,
  onPage,
  onPageSize,
}: Props) => (
  <Group justify="space-between" gap="sm">
    <Text size="sm" c="dimmed" aria-live="polite" className="tabular-numbers">
      {countOf(total, kind)}
    </Text>
    <Group gap="md">
      <Group gap={6}>
        <Text size="sm" c="dimmed" component="label" htmlFor="page-size">
          Rows
        </Text>
        <NativeSelect
          id="page-size"
          size="xs"
          data={PAGE_SIZES.map(String)}
          value={String(pageSize)}
          onChange={({ currentTarget }) => onPageSize(Number(currentTarget.value))}
        />
      </Group>
      {totalPages > 1 ? <Pages page={page} totalPages={totalPages} onPage={onPage} /> : null}
    </Group>
  </Group>
);

const Pages = ({
  page,
  totalPages,
  onPage,
}: {
  page: number;
  totalPages: number;
  onPage(page: number): void;
}) => (
  <Group component="nav" aria-label="Pages of the list" gap={6} wrap="nowrap">
    <ActionIcon
      variant="default"
      aria-label="Previous page"
      disabled={page <= 1}
      onClick={() => onPage(Math.min(page - 1, totalPages))}
    >
      <ChevronLeft size={16} aria-hidden />
    </ActionIcon>
    <PageJump page={page} totalPages={totalPages} onPage={onPage} />
    <ActionIcon
      variant="default"
      aria-label="Next page"
      disabled={page >= totalPages}
      onClick={() => onPage(page + 1)}
    >
      <ChevronRight size={16} aria-hidden />
    </ActionIcon>
  </Group>
);

/** "Page 3 of 12", where the 3 can be typed over. */
const PageJump = ({
  page,
  totalPages,
  onPage,
}: {
  page: number;
  totalPages: number;
  onPage(page: number): void;
}) => {
  const [typed, setTyped] = useState(String(page));
  useEffect(() => setTyped(String(page)), [page]);
  const jump = () => {
    const wanted = Math.min(Math.max(1, Math.trunc(Number(typed))), totalPages);
    if (Number.isNaN(wanted) || wanted === page) setTyped(String(page));
    else onPage(wanted);
  };
  return (
    <Group gap={6} wrap="nowrap">
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
    </Group>
  );
};
