import { Skeleton, Stack, VisuallyHidden } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ErrorAlert } from './error-alert.tsx';

interface Props<Data> {
  query: UseQueryResult<Data>;
  children: (data: Data) => ReactNode;
}

/** Shows a query's data: a skeleton while it loads, an error above the data where a later read failed. */
export const QueryView = <Data,>({ query, children }: Props<Data>) => {
  const { data, error } = query;
  if (data === undefined && !error) return <LoadingRows />;
  return (
    <Stack gap="md">
      {error ? (
        <ErrorAlert
          title={data === undefined ? 'This could not be read' : 'This could not be refreshed'}
          error={error}
          onRetry={() => void query.refetch()}
        />
      ) : null}
      {data === undefined ? null : children(data)}
    </Stack>
  );
};

const LoadingRows = () => (
  <Stack gap="sm" role="status">
    <VisuallyHidden>Loading</VisuallyHidden>
    {[1, 2, 3, 4].map((row) => (
      <Skeleton key={row} height={44} />
    ))}
  </Stack>
);
