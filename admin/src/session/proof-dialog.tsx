import { Text } from '@mantine/core';
import { Proof } from '../../../contract/admin-access.ts';
import { api } from '../api.ts';
import { useApiForm } from '../ui/forms/api-form.ts';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { type ProofBy, ProofInput } from './credentials.tsx';

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
