import { Alert, Button, Group, Skeleton, Stack, VisuallyHidden } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { CircleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { ApiError } from '../api.ts';

interface Props<Data> {
  query: UseQueryResult<Data>;
  children: (data: Data) => ReactNode;
}

/** What was asked for; until it is there the shape of it, and instead of it why it is not. What is there stays. */
export const QueryView = <Data,>({ query, children }: Props<Data>) => {
  const { data, error } = query;
  if (data === undefined && !error) return <Awaited />;
  return (
    <Stack gap="md">
      {error ? (
        <QueryFault
          title={data === undefined ? 'This could not be read' : 'This could not be read anew'}
          error={error}
          busy={query.isFetching}
          onRetry={() => void query.refetch()}
        />
      ) : null}
      {data === undefined ? null : children(data)}
    </Stack>
  );
};

const Awaited = () => (
  <Stack gap="sm" role="status">
    <VisuallyHidden>Loading</VisuallyHidden>
    {[1, 2, 3, 4].map((row) => (
      <Skeleton key={row} height={44} />
    ))}
  </Stack>
);

interface FaultProps {
  title: string;
  error: Error;
  busy: boolean;
  onRetry: () => void;
}

const QueryFault = ({ title, error, busy, onRetry }: FaultProps) => (
  <Alert color="red" title={title} icon={<CircleAlert aria-hidden />} role="alert">
    <Stack gap="sm" align="flex-start">
      {error.message}
      <Group gap="md">
        <Button size="xs" variant="default" onClick={onRetry} loading={busy}>
          Try again
        </Button>
        {error instanceof ApiError && error.body ? <small>Request {error.body.requestId}</small> : null}
      </Group>
    </Stack>
  </Alert>
);
