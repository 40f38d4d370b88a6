import { Skeleton, Stack } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { QueryError } from './error-alert.tsx';

interface Props<Data> {
  query: UseQueryResult<Data>;
  children: (data: Data) => ReactNode;
}

/** Shows a query's data: a skeleton while it loads, an error above the data where a later read failed. */
export const QueryView = <Data,>({ query, children }: Props<Data>) => {
  const { data, error } = query;
  if (data === undefined && !error) return <LoadingRows rows={4} />;
  return (
    <Stack gap="md">
      <QueryError query={query} title="This could not be read" stale="This could not be refreshed" />
      {data === undefined ? null : children(data)}
    </Stack>
  );
};

export const LoadingRows = ({ rows }: { rows: number }) => (
  <Stack gap="xs" role="status" aria-label="Loading">
    {Array.from({ length: rows }, (_, row) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
      <Skeleton key={row} height={44} />
    ))}
  </Stack>
);
