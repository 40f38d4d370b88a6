import { Text } from '@mantine/core';
import { ChangeUser, type User } from '../../../contract/admin-people.ts';
import { api } from '../api.ts';
import { NewPasswordInput } from '../session/inputs.tsx';
import { useApiForm } from '../ui/forms/api-form.ts';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { personName, useTeamChanged } from './team-page.tsx';

interface Props {
  person: User;
  onClose: () => void;
}

const NewPassword = ChangeUser.pick({ password: true }).required();

export const PasswordDialog = ({ person, onClose }: Props) => {
  const { done } = useTeamChanged(onClose);
  const { form, submit, busy, failure } = useApiForm({
    schema: NewPassword,
    initialValues: { password: '' },
    send: (body) => api.patch<User>(`/users/${person.id}`, body),
    onDone: (changed) => done(`${personName(changed)} has a new password.`),
  });
  return (
    <FormDialog
      title={`A password for ${personName(person)}`}
      action="Set password"
      busy={busy}
      failure={failure}
      onSubmit={submit}
      onClose={onClose}
    >
      <NewPasswordInput
        label="New password"
        data-autofocus
        {...form.getInputProps('password')}
        onSuggest={(password) => form.setFieldValue('password', password)}
      />
      <Text size="sm" c="dimmed">
        They are signed out everywhere. No e-mail contains the password: tell it to them yourself.
      </Text>
    </FormDialog>
  );
};
