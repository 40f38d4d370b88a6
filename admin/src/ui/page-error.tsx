import { Alert, Button, Container, Stack } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { ApiError } from '../api.ts';
import { errorMessage } from './error-message.ts';
import { PageMissing } from './lazy-page.tsx';
import { isMissingChunk } from './missing-chunks.ts';
import { PageIsMissing } from './page-missing.tsx';

const stillMissing = async () => false;

/** Shown in place of a page that failed: the service's message, and a button to try again. */
export const PageError = ({ error }: { error: unknown }) => {
  const router = useRouter();
  if (error instanceof PageMissing) return <PageIsMissing retry={error.retry} />;
  if (isMissingChunk(error)) return <PageIsMissing retry={stillMissing} />;
  const requestId = error instanceof ApiError ? error.body?.requestId : undefined;
  return (
    <Container size="xs" py="xl">
      <Alert color="red" title="This did not work" role="alert">
        <Stack gap="sm" align="flex-start">
          {errorMessage(error)}
          {requestId ? <small>Request {requestId}</small> : null}
          <Button variant="default" size="xs" onClick={() => void router.invalidate()}>
            Try again
          </Button>
        </Stack>
      </Alert>
    </Container>
  );
};
