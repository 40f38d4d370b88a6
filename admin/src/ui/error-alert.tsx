import { Alert, Button, Group, Stack } from '@mantine/core';
import { useLocation } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ApiError } from '../api.ts';
import { ButtonLink } from './links.tsx';

interface Props {
  title: string;
  error: Error;
  onRetry?: () => void;
  /** More buttons. */
  children?: ReactNode;
}

/** An error in the service's words, with a button to try again or to sign in again. */
export const ErrorAlert = ({ title, error, onRetry, children }: Props) => {
  const here = useLocation({ select: ({ href }) => href });
  const body = error instanceof ApiError ? error.body : null;
  return (
    <Alert color="red" title={title} role="alert">
      <Stack gap="sm" align="flex-start">
        {error.message}
        <Group gap="sm">
          {body?.statusCode === 401 ? (
            <ButtonLink size="xs" to="/sign-in" search={{ to: here }}>
              Sign in again
            </ButtonLink>
          ) : onRetry ? (
            <Button size="xs" variant="default" onClick={onRetry}>
              Try again
            </Button>
          ) : null}
          {children}
          {body && body.statusCode >= 500 ? <small>Request {body.requestId}</small> : null}
        </Group>
      </Stack>
    </Alert>
  );
};
