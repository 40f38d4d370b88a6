import { Text, TextInput } from '@mantine/core';
import { CreateUser, type User, type UserRole } from '../../../contract/admin-people.ts';
import { api } from '../api.ts';
import { NewPasswordInput } from '../session/new-password-input.tsx';
import { useApiForm } from '../ui/forms/api-form.ts';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { RoleInput } from './role-input.tsx';
import { NAME_HINT, USER_ERROR_CODES, useTeamChanged } from './team-api.ts';

export const AddPersonDialog = ({ onClose }: { onClose: () => void }) => {
  const done = useTeamChanged(onClose);
  const { form, submit, busy, failure } = useApiForm({
    schema: CreateUser,
    initialValues: { email: '', name: '', role: 'STAFF' as UserRole, password: '' },
    codes: USER_ERROR_CODES,
    send: (body) => api.post<User>('/users', body),
    onDone: ({ email }) => done(`${email} can sign in now.`),
  });
  return (
    <FormDialog
      title="Add a person"
      action="Add person"
      busy={busy}
      failure={failure}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextInput
        label="E-mail"
        type="email"
        autoComplete="off"
        required
        data-autofocus
        {...form.getInputProps('email')}
      />
      <TextInput label="Name" autoComplete="off" description={NAME_HINT} {...form.getInputProps('name')} />
      <RoleInput {...form.getInputProps('role')} />
      <NewPasswordInput
        label="Password"
        {...form.getInputProps('password')}
        onSuggest={(password) => form.setFieldValue('password', password)}
      />
      <Text size="sm" c="dimmed">
        No e-mail is sent: tell them the password yourself. They can change it under “Account and password”.
      </Text>
    </FormDialog>
  );
};
