import { Anchor, PasswordInput, Text } from '@mantine/core';
import { useState } from 'react';
import { ProveSelf } from '../../../../contract/admin-access.ts';
import { api } from '../../api.ts';
import { useApiForm } from '../../ui/forms/api-form.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { CodeInput } from '../code-input.tsx';

interface Props<Answer> {
  title: string;
  intro: string;
  action: string;
  dangerous?: boolean;
  path: string;
  onDone: (answer: Answer) => void;
  onClose: () => void;
}

/** Asks for the current password or a code before something for which an open page is not enough. */
export const ProveDialog = <Answer,>({ intro, path, onDone, ...dialog }: Props<Answer>) => {
  const [by, setBy] = useState<'password' | 'code'>('password');
  const { form, submit, busy, failure, clearFailure } = useApiForm({
    schema: ProveSelf,
    initialValues: { currentPassword: '', code: '' },
    bodyOf: ({ currentPassword, code }) => (by === 'password' ? { currentPassword } : { code: code || null }),
    send: (body) => api.post<Answer>(`/session/second-factor/${path}`, body),
    onDone,
  });
  const change = (next: typeof by) => {
    setBy(next);
    form.reset();
    clearFailure();
  };
  return (
    <FormDialog {...dialog} busy={busy} failure={failure} onSubmit={submit}>
      <Text>{intro}</Text>
      {by === 'password' ? (
        <PasswordInput
          label="Current password"
          autoComplete="current-password"
          required
          data-autofocus
          visibilityToggleButtonProps={{ 'aria-label': 'Show the current password' }}
          {...form.getInputProps('currentPassword')}
        />
      ) : (
        <CodeInput {...form.getInputProps('code')} onClear={() => form.setFieldValue('code', '')} />
      )}
      <Anchor
        component="button"
        type="button"
        size="sm"
        style={{ alignSelf: 'flex-start' }}
        onClick={() => change(by === 'password' ? 'code' : 'password')}
      >
        {by === 'password' ? 'Use a code instead of the password' : 'Use the password instead of a code'}
      </Anchor>
    </FormDialog>
  );
};
