import { Alert, Button, Container, Stack, Title } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import { useRouter } from '@tanstack/react-router';
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { ApiError, errorMessage } from '../api.ts';
import { texts } from '../texts.ts';
import { EmptyState } from './empty-state.tsx';
import { isServiceThere, PageMissing, reloadOnce } from './lazy.tsx';
import { ButtonLink } from './links.tsx';
import { Loading, useTabTitle } from './page-frame.tsx';

const words = texts.shell;

export const NoSuchPage = () => {
  useTabTitle(words.noPage);
  return (
    <EmptyState isPage title={words.noPage} description={words.noPageWhy}>
      <ButtonLink to="/">{words.goToToday}</ButtonLink>
    </EmptyState>
  );
};

export const StartFailed = ({ error }: { error: unknown }) => {
  useTabTitle(words.notAvailable);
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
    <PageAlert color="red" title={words.failed} onRetry={() => void router.invalidate()}>
      {errorMessage(error)}
      {requestId ? <small>{texts.common.request(requestId)}</small> : null}
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
          {texts.common.tryAgain}
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
    <PageAlert color="orange" title={navigator.onLine ? words.unreachable : words.offline} onRetry={tryAgain}>
      {words.notLoaded}
    </PageAlert>
  );
};
