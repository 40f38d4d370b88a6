import { Alert, Button, Group, Skeleton, Stack } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ApiError } from '../api.ts';
import { texts } from '../texts.ts';
import { SlowHint } from './page-frame.tsx';

const words = texts.common;

interface Props {
  title: string;
  error: Error;
  onRetry?: () => void;
  children?: ReactNode;
}

export const ErrorAlert = ({ title, error, onRetry, children }: Props) => {
  const body = error instanceof ApiError ? error.body : null;
  return (
    <Alert color="red" title={title} role="alert">
      <Stack gap="sm" align="flex-start">
        {error.message}
        <Group gap="sm">
          {onRetry ? (
            <Button size="xs" variant="default" onClick={onRetry}>
              {words.tryAgain}
            </Button>
          ) : null}
          {children}
          {body && body.statusCode >= 500 ? <small>{words.request(body.requestId)}</small> : null}
        </Group>
      </Stack>
    </Alert>
  );
};

interface QueryErrorProps {
  query: Pick<UseQueryResult, 'data' | 'error' | 'refetch'>;
  title: string;
  /** The title where there is data of an earlier read. */
  stale?: string;
  children?: ReactNode;
}

export const QueryError = ({ query, title, stale = title, children }: QueryErrorProps) =>
  query.error ? (
    <ErrorAlert
      title={query.data === undefined ? title : stale}
      error={query.error}
      onRetry={() => void query.refetch()}
    >
      {children}
    </ErrorAlert>
  ) : null;

export const FormFailure = ({ failure }: { failure: Error | null }) =>
  failure ? (
    <Alert color="red" role="alert">
      {failure.message}
    </Alert>
  ) : null;

interface QueryViewProps<Data> {
  query: UseQueryResult<Data>;
  children: (data: Data) => ReactNode;
}

/** Shows a query's data: a skeleton while it loads, an error above the data where a later read failed. */
export const QueryView = <Data,>({ query, children }: QueryViewProps<Data>) => {
  const { data, error } = query;
  if (data === undefined && !error) return <LoadingRows rows={4} />;
  return (
    <Stack gap="md">
      <QueryError query={query} title={words.notRead} stale={words.notRefreshed} />
      {data === undefined ? null : children(data)}
    </Stack>
  );
};

export const LoadingRows = ({ rows }: { rows: number }) => (
  <Stack gap="xs" role="status" aria-label={words.loading}>
    {Array.from({ length: rows }, (_, row) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
      <Skeleton key={row} height={44} />
    ))}
    <SlowHint />
  </Stack>
);
