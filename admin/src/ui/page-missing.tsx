import { Alert, Button, Container, Stack } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { useCallback, useEffect, useRef, useState } from 'react';
import { Loading } from './loading.tsx';
import { isServiceThere, reloadOnce } from './missing-chunks.ts';

const TRY_EVERY_MS = 5_000;

/** In place of a page that cannot be loaded: waits for the connection, then opens it without leaving the app. */
export const PageIsMissing = ({ retry }: { retry: () => Promise<boolean> }) => {
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
  useEffect(() => {
    void tryAgain();
    const timer = setInterval(tryAgain, TRY_EVERY_MS);
    window.addEventListener('online', tryAgain);
    return () => {
      clearInterval(timer);
      window.removeEventListener('online', tryAgain);
    };
  }, [tryAgain]);
  if (!isAway) return <Loading />;
  return (
    <Container size="xs" py="xl">
      <Alert
        color="orange"
        title={navigator.onLine ? 'The service cannot be reached' : 'You are offline'}
        role="alert"
      >
        <Stack gap="sm" align="flex-start">
          This page is not loaded yet. It opens as soon as the connection is back; the pages that you opened
          before still work.
          <Button variant="default" size="xs" onClick={tryAgain}>
            Try again
          </Button>
        </Stack>
      </Alert>
    </Container>
  );
};
