import { Alert, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ChangeUser, type User } from '../../../contract/admin-people.ts';
import { api } from '../api.ts';
import { sessionQuery, useSession } from '../session/session.ts';
import { useApiForm } from '../ui/forms/api-form.ts';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { TextLink } from '../ui/links.tsx';
import { RoleInput } from './role-input.tsx';
import { NAME_HINT, personName, USER_ERROR_CODES, useTeamChanged } from './team-page.tsx';

interface Props {
  person: User;
  onClose: () => void;
}

export const EditPersonDialog = ({ person, onClose }: Props) => {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { user } = useSession();
  const { done } = useTeamChanged(onClose);
  const isSelf = user.id === person.id;
  const { form, submit, busy, failure } = useApiForm({
    schema: ChangeUser,
    initialValues: { email: person.email, name: person.name ?? '', role: person.role },
    codes: USER_ERROR_CODES,
    // Only what changed here: a colleague may be changing the rest.
    send: ({ email, name, role }) =>
      api.patch<User>(`/users/${person.id}`, {
        ...(email === person.email ? {} : { email }),
        ...(name === (person.name ?? '') ? {} : { name }),
        ...(role === person.role ? {} : { role }),
      }),
    onDone: async (changed) => {
      if (isSelf) await queryClient.refetchQueries(sessionQuery);
      done(`${personName(changed)} is saved.`);
      if (isSelf && changed.role !== 'ADMIN') await navigate({ to: '/' });
    },
  });
  return (
    <FormDialog
      title={`Change ${personName(person)}`}
      action="Save"
      busy={busy}
      failure={failure}
      onSubmit={submit}
      onClose={onClose}
    >
      {isSelf ? (
        <Text size="sm">
          Your e-mail and password you change in{' '}
          <TextLink to="/account" underline="always">
            your account
          </TextLink>
          .
        </Text>
      ) : (
        <TextInput label="E-mail" type="email" autoComplete="off" required {...form.getInputProps('email')} />
      )}
      <TextInput label="Name" autoComplete="off" description={NAME_HINT} {...form.getInputProps('name')} />
      <RoleInput {...form.getInputProps('role')} />
      {isSelf && form.values.role !== 'ADMIN' ? (
        <Alert color="yellow">This is you: you will no longer see the settings, this page included.</Alert>
      ) : null}
    </FormDialog>
  );
};
