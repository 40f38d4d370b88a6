import { Anchor, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { CreatedUser } from '../../../contract/admin-access.ts';
import { CreateUser, type UserRole } from '../../../contract/admin-people.ts';
import { api } from '../api.ts';
import { NewPasswordInput } from '../session/inputs.tsx';
import { useApiForm } from '../ui/forms/api-form.ts';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { LinkDialog, type ShownLink } from './link-dialog.tsx';
import { RoleInput } from './role-input.tsx';
import { NAME_HINT, personName, USER_ERROR_CODES, useTeamChanged } from './team-page.tsx';

/** Invites somebody with a link, or gives them a password. */
export const InviteDialog = ({ onClose }: { onClose: () => void }) => {
  const { changed, done } = useTeamChanged(onClose);
  const [by, setBy] = useState<'link' | 'password'>('link');
  const [made, setMade] = useState<ShownLink | null>(null);
  const { form, submit, busy, failure } = useApiForm({
    schema: CreateUser,
    initialValues: { email: '', name: '', role: 'STAFF' as UserRole, password: '' },
    bodyOf: ({ password, ...values }) => (by === 'link' ? values : { ...values, password }),
    codes: USER_ERROR_CODES,
    send: (body) => api.post<CreatedUser>('/users', body),
    onDone: (person) => {
      const { link, linkExpiresAt, mailed } = person;
      if (!link || !linkExpiresAt) return done(`${personName(person)} can sign in now.`);
      changed();
      setMade({ person, link, linkExpiresAt, mailed });
    },
  });
  if (made) return <LinkDialog {...made} title={`${personName(made.person)} is invited`} onClose={onClose} />;
  return (
    <FormDialog
      title="Invite a person"
      action={by === 'link' ? 'Invite' : 'Add person'}
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
      {by === 'password' ? (
        <NewPasswordInput
          label="Password"
          {...form.getInputProps('password')}
          onSuggest={(password) => form.setFieldValue('password', password)}
        />
      ) : null}
      <Text size="sm" c="dimmed">
        {by === 'link'
          ? 'They get a link with which they choose their own password.'
          : 'Tell them the password yourself. They can change it in their account.'}{' '}
        <Anchor
          component="button"
          type="button"
          inherit
          onClick={() => setBy(by === 'link' ? 'password' : 'link')}
        >
          {by === 'link' ? 'Give them a password instead' : 'Send a link instead'}
        </Anchor>
      </Text>
    </FormDialog>
  );
};
