import { Alert, Radio, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import {
  ChangeUser,
  CreateUser,
  USER_ROLES,
  type User,
  type UserRole,
} from '../../../contract/admin-people.ts';
import { api } from '../api.ts';
import { NewPasswordInput } from '../session/new-password-input.tsx';
import { ROLE_LABELS } from '../session/roles.ts';
import { forgetSession, sessionQuery, useSession } from '../session/session.ts';
import { useApiForm } from '../ui/api-form.ts';
import { FormDialog } from '../ui/form-dialog.tsx';
import { notifyDone } from '../ui/notify.ts';

export const teamKey = ['users'] as const;

const RoleInput = ({ value, ...input }: { value?: string; onChange?: (value: string) => void }) => (
  <Radio.Group label="Role" value={value ?? null} {...input}>
    <Stack gap="xs" mt={6}>
      {USER_ROLES.map((role) => (
        <Radio
          key={role}
          value={role}
          label={ROLE_LABELS[role].name}
          description={ROLE_LABELS[role].description}
        />
      ))}
    </Stack>
  </Radio.Group>
);

/** Taken addresses are the only refusal that is about one input. */
const codes = { EMAIL_TAKEN: 'email' } as const;

const useDone = (onClose: () => void) => {
  const queryClient = useQueryClient();
  return (message: string) => {
    void queryClient.invalidateQueries({ queryKey: teamKey });
    notifyDone(message);
    onClose();
  };
};

export const AddPersonDialog = ({ onClose }: { onClose: () => void }) => {
  const done = useDone(onClose);
  const { form, submit, busy, failure } = useApiForm({
    schema: CreateUser,
    initialValues: { email: '', role: 'STAFF' as UserRole, password: '' },
    codes,
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

interface OfPerson {
  person: User;
  onClose: () => void;
}

export const EditPersonDialog = ({ person, onClose }: OfPerson) => {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { user } = useSession();
  const done = useDone(onClose);
  const isSelf = user.id === person.id;
  const { form, submit, busy, failure } = useApiForm({
    schema: ChangeUser,
    initialValues: { email: person.email, role: person.role },
    codes,
    // Only what was changed here: a colleague may be changing the rest.
    send: ({ email, role }) =>
      api.patch<User>(`/users/${person.id}`, {
        ...(email === person.email ? {} : { email }),
        ...(role === person.role ? {} : { role }),
      }),
    onDone: async (changed) => {
      if (isSelf) await queryClient.refetchQueries(sessionQuery);
      done(`${changed.email} is saved.`);
      if (isSelf && changed.role !== 'ADMIN') await navigate({ to: '/' });
    },
  });
  return (
    <FormDialog
      title={`Change ${person.email}`}
      action="Save"
      busy={busy}
      failure={failure}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextInput label="E-mail" type="email" autoComplete="off" required {...form.getInputProps('email')} />
      <RoleInput {...form.getInputProps('role')} />
      {isSelf && form.values.role !== 'ADMIN' ? (
        <Alert color="yellow">This is you: you will no longer see the settings, this page included.</Alert>
      ) : null}
    </FormDialog>
  );
};

const NewPasswordOnly = ChangeUser.pick({ password: true }).required();

export const PasswordDialog = ({ person, onClose }: OfPerson) => {
  const done = useDone(onClose);
  const { form, submit, busy, failure } = useApiForm({
    schema: NewPasswordOnly,
    initialValues: { password: '' },
    send: (body) => api.patch<User>(`/users/${person.id}`, body),
    onDone: ({ email }) => done(`${email} has a new password.`),
  });
  return (
    <FormDialog
      title={`New password for ${person.email}`}
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
        They are signed out everywhere, and no e-mail is sent: tell them the password yourself.
      </Text>
    </FormDialog>
  );
};

export const RemovePersonDialog = ({ person, onClose }: OfPerson) => {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { user } = useSession();
  const done = useDone(onClose);
  const isSelf = user.id === person.id;
  const removing = useMutation({
    mutationFn: () => api.delete<null>(`/users/${person.id}`),
    onSuccess: async () => {
      if (!isSelf) return done(`${person.email} is removed.`);
      forgetSession();
      await navigate({ to: '/sign-in' });
      queryClient.clear();
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    removing.mutate();
  };
  return (
    <FormDialog
      title={`Remove ${person.email}?`}
      action="Remove person"
      dangerous
      busy={removing.isPending}
      failure={removing.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <Text>
        {isSelf
          ? 'This is you: you are signed out at once and cannot come back by yourself.'
          : 'They are signed out at once and can no longer sign in. What they did stays in the timelines and in the audit log.'}
      </Text>
    </FormDialog>
  );
};
