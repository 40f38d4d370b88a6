import { Alert, Button, Container, Stack } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError } from '../api.ts';
import { errorMessage } from './error-message.ts';
import { Loading } from './loading.tsx';
import { isMissingChunk, reloadOnce } from './missing-chunks.ts';

const CHUNK_MISSING = 'A part of this page could not be loaded. Check the connection and try again.';

/** Shown in place of a page that failed: the service's message, and a button to try again. */
export const PageError = ({ error }: { error: unknown }) => {
  const router = useRouter();
  const isMissing = isMissingChunk(error);
  const [isReloading] = useState(() => isMissing && reloadOnce());
  if (isReloading) return <Loading />;
  const requestId = error instanceof ApiError ? error.body?.requestId : undefined;
  return (
    <Container size="xs" py="xl">
      <Alert color="red" title="This did not work" role="alert">
        <Stack gap="sm" align="flex-start">
          {isMissing ? CHUNK_MISSING : errorMessage(error)}
          {requestId ? <small>Request {requestId}</small> : null}
          <Button
            variant="light"
            onClick={() => (isMissing ? window.location.reload() : void router.invalidate())}
          >
            Try again
          </Button>
        </Stack>
      </Alert>
    </Container>
  );
};
