import { Button, Group, Modal, PasswordInput, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api.ts';
import { FormFailure } from '../ui/error-alert.tsx';
import { CodeInput, isCodeMissing } from './inputs.tsx';
import { rememberSignIn, type Session, sessionQuery, useLeave } from './session.ts';

/** Above every other dialog, which stays as it is. */
const ABOVE_ALL = 1000;
/** Escape closes no dialog below this one. */
const KEEPS_ESCAPE = { 'data-mantine-stop-propagation': true } as const;

/** The same person signs in again, over the page and everything that is typed on it. */
export const SignInAgain = ({ email, onDone }: { email: string; onDone: () => void }) => {
  const queryClient = useQueryClient();
  const leave = useLeave();
  const [asksCode, askCode] = useState(false);
  const form = useForm({ initialValues: { password: '', code: '' } });
  const signIn = useMutation({
    mutationFn: ({ password, code }: typeof form.values) =>
      api.post<Session>('/session', { email, password, ...(asksCode ? { code } : {}) }),
    onSuccess: (session) => {
      rememberSignIn(true);
      queryClient.setQueryData(sessionQuery.queryKey, session);
      onDone();
      void queryClient.invalidateQueries();
    },
    onError: (error) => {
      if (isCodeMissing(error)) askCode(true);
      else form.setFieldValue('code', '');
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
          <FormFailure failure={isCodeMissing(signIn.error) ? null : signIn.error} />
          <input type="text" autoComplete="username" value={email} readOnly hidden />
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            required
            data-autofocus
            {...KEEPS_ESCAPE}
            {...form.getInputProps('password')}
          />
          {asksCode ? (
            <CodeInput
              autoFocus
              {...KEEPS_ESCAPE}
              {...form.getInputProps('code')}
              onClear={() => form.setFieldValue('code', '')}
            />
          ) : null}
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
