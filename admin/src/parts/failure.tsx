import { Alert, Button, Container, Stack } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { ApiError } from '../api.ts';

/** What went wrong, in the service's own words, and a way on. */
export const Failure = ({ error }: { error: unknown }) => {
  const router = useRouter();
  const requestId = error instanceof ApiError ? error.body?.requestId : undefined;
  return (
    <Container size="xs" py="xl">
      <Alert color="red" title="This did not work" role="alert">
        <Stack gap="sm" align="flex-start">
          {error instanceof Error ? error.message : 'Something went wrong.'}
          {requestId ? <small>Request {requestId}</small> : null}
          <Button variant="light" onClick={() => router.invalidate()}>
            Try again
          </Button>
        </Stack>
      </Alert>
    </Container>
  );
};
