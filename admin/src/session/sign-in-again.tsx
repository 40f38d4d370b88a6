import { Alert, Button, Group, Modal, PasswordInput, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api } from '../api.ts';
import { rememberSignIn, type Session, sessionQuery } from './session.ts';
import { useLeave } from './use-leave.ts';

/** Above every other dialog, which stays as it is. */
const ABOVE_ALL = 1000;
/** Escape closes no dialog below this one. */
const KEEPS_ESCAPE = { 'data-mantine-stop-propagation': true } as const;

/** The same person signs in again, over the page and everything that is typed on it. */
export const SignInAgain = ({ email, onDone }: { email: string; onDone: () => void }) => {
  const queryClient = useQueryClient();
  const leave = useLeave();
  const form = useForm({ initialValues: { password: '' } });
  const signIn = useMutation({
    mutationFn: ({ password }: typeof form.values) => api.post<Session>('/session', { email, password }),
    onSuccess: (session) => {
      rememberSignIn(true);
      queryClient.setQueryData(sessionQuery.queryKey, session);
      onDone();
      void queryClient.invalidateQueries();
    },
  });
  return (
    <Modal
      opened
      onClose={() => {}}
      title="Sign in again"
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      zIndex={ABOVE_ALL}
      {...KEEPS_ESCAPE}
    >
      <form onSubmit={form.onSubmit((values) => signIn.mutate(values))}>
        <Stack>
          <Text size="sm">
            Your session has ended. Everything on the page stays as it is while you sign in as{' '}
            <strong>{email}</strong>.
          </Text>
          {signIn.error ? (
            <Alert color="red" role="alert">
              {signIn.error.message}
            </Alert>
          ) : null}
          <input type="text" autoComplete="username" value={email} readOnly hidden />
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            required
            data-autofocus
            {...KEEPS_ESCAPE}
            {...form.getInputProps('password')}
          />
          <Group justify="space-between">
            <Button variant="subtle" size="xs" onClick={leave}>
              Somebody else signs in
            </Button>
            <Button type="submit" loading={signIn.isPending}>
              Sign in
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
};
