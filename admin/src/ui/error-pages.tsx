import { Alert, Button, Center, Container, Stack, Text, Title } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import { useRouter } from '@tanstack/react-router';
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { ApiError, errorMessage } from '../api.ts';
import { isServiceThere, PageMissing, reloadOnce } from './lazy.tsx';
import { ButtonLink } from './links.tsx';
import { Loading, useTabTitle } from './page-frame.tsx';

export const NoSuchPage = () => {
  useTabTitle('No such page');
  return (
    <Center mih="100vh" p="md" component="main">
      <Stack align="center" gap="sm" ta="center">
        <Title order={1} size="h3">
          There is no such page
        </Title>
        <Text c="dimmed">The link may be old, or a letter of it is missing.</Text>
        <ButtonLink to="/">Go to overview</ButtonLink>
      </Stack>
    </Center>
  );
};

export const StartFailed = ({ error }: { error: unknown }) => {
  useTabTitle('Not available');
  return (
    <Stack component="main" mih="100vh" p="md" justify="center" gap={0}>
      <Title order={1} size="h3" ta="center">
        Handback
      </Title>
      <PageError error={error} />
    </Stack>
  );
};

export const PageError = ({ error }: { error: unknown }) => {
  const router = useRouter();
  if (error instanceof PageMissing) return <PageIsMissing retry={error.retry} />;
  const requestId = error instanceof ApiError ? error.body?.requestId : undefined;
  return (
    <PageAlert color="red" title="This did not work" onRetry={() => void router.invalidate()}>
      {errorMessage(error)}
      {requestId ? <small>Request {requestId}</small> : null}
    </PageAlert>
  );
};

interface AlertProps {
  color: string;
  title: string;
  onRetry: () => void;
  children: ReactNode;
}

const PageAlert = ({ color, title, onRetry, children }: AlertProps) => (
  <Container size="xs" py="xl">
    <Alert color={color} title={title} role="alert">
      <Stack gap="sm" align="flex-start">
        {children}
        <Button variant="default" size="xs" onClick={onRetry}>
          Try again
        </Button>
      </Stack>
    </Alert>
  </Container>
);

const TRY_EVERY_MS = 5_000;

/** In place of a page that cannot be loaded: waits for the connection, then opens it without a reload. */
const PageIsMissing = ({ retry }: { retry: () => Promise<boolean> }) => {
  const router = useRouter();
  const [isAway, setAway] = useState(false);
  const isTrying = useRef(false);
  const tryAgain = useCallback(async () => {
    if (isTrying.current) return;
    isTrying.current = true;
    const isThere = await isServiceThere();
    if (isThere && (await retry())) await router.invalidate();
    // The service is there and the file is not: it was upgraded.
    else if (isThere) reloadOnce();
    setAway(true);
    isTrying.current = false;
  }, [retry, router]);
  useWindowEvent('online', tryAgain);
  useEffect(() => {
    void tryAgain();
    const timer = setInterval(tryAgain, TRY_EVERY_MS);
    return () => clearInterval(timer);
  }, [tryAgain]);
  if (!isAway) return <Loading />;
  return (
    <PageAlert
      color="orange"
      title={navigator.onLine ? 'The service cannot be reached' : 'You are offline'}
      onRetry={tryAgain}
    >
      This page is not loaded yet. It opens as soon as the connection is back; the pages that you opened
      before still work.
    </PageAlert>
  );
};
