import { Button, Group, Modal, PasswordInput, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Proof } from '../../../contract/admin-access.ts';
import { api } from '../api.ts';
import { useApiForm } from '../ui/forms/api-form.ts';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { FormFailure } from '../ui/query-view.tsx';
import { CodeInput, type ProofBy, ProofInput, UsernameInput, useSignIn } from './credentials.tsx';
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
              Sign in as someone else
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

/** Above other dialogs, which stay as they are, and below the one to sign in again. */
const ABOVE_DIALOGS = 900;

export const ProofDialog = ({ onDone }: { onDone: (proved: boolean) => void }) => {
  const { form, clearFailure, ...dialog } = useApiForm({
    schema: Proof,
    initialValues: { by: 'password' as ProofBy, password: '', code: '' },
    bodyOf: ({ by, password, code }) => (by === 'password' ? { password } : { code: code || null }),
    send: (body) => api.post<null>('/session/proof', body),
    onDone: () => onDone(true),
  });
  const switchTo = (by: ProofBy) => {
    form.setValues({ by, password: '', code: '' });
    form.clearErrors();
    clearFailure();
  };
  return (
    <FormDialog
      {...dialog}
      title="Confirm that it is you"
      action="Confirm"
      size="md"
      zIndex={ABOVE_DIALOGS}
      onClose={() => onDone(false)}
    >
      <Text size="sm">
        For this we need your password again. We will not ask again for ten minutes, and what you typed stays.
      </Text>
      <ProofInput form={form} password="password" focused onSwitch={switchTo} />
    </FormDialog>
  );
};
