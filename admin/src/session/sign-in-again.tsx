import { Button, Group, Modal, PasswordInput, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { FormFailure } from '../ui/query-view.tsx';
import { CodeInput, UsernameInput, useSignIn } from './credentials.tsx';
import { useLeave } from './session.ts';

/** Above every other dialog, which stays as it is. */
const ABOVE_ALL = 1000;
/** Escape closes no dialog below this one. */
const KEEPS_ESCAPE = { 'data-mantine-stop-propagation': true } as const;

export const SignInAgain = ({ email, onDone }: { email: string; onDone: () => void }) => {
  const queryClient = useQueryClient();
  const leave = useLeave();
  const { form, asksCode, onSubmit, busy, failure } = useSignIn(email, () => {
    onDone();
    void queryClient.invalidateQueries();
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
      <form onSubmit={onSubmit}>
        <Stack>
          <Text size="sm">
            Your session has ended. Everything on the page stays as it is while you sign in as{' '}
            <strong>{email}</strong>.
          </Text>
          <FormFailure failure={failure} />
          <UsernameInput email={email} />
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            required
            data-autofocus
            {...KEEPS_ESCAPE}
            {...form.getInputProps('password')}
          />
          {asksCode ? <CodeInput autoFocus {...KEEPS_ESCAPE} {...form.getInputProps('code')} /> : null}
          <Group justify="space-between">
            <Button variant="subtle" size="xs" onClick={leave}>
              Somebody else signs in
            </Button>
            <Button type="submit" loading={busy}>
              Sign in
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
};
