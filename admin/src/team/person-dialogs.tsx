import { Alert, Button, Group, Modal, Radio, Stack, Text, TextInput } from '@mantine/core';
import { keepPreviousData, queryOptions, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Mail } from 'lucide-react';
import { type ComponentType, useState } from 'react';
import type { z } from 'zod';
import type { CreatedUser, NewLink } from '../../../contract/admin-access.ts';
import {
  ChangeUser,
  CreateUser,
  USER_ROLES,
  type User,
  type UserList,
  type UserRole,
} from '../../../contract/admin-people.ts';
import { api } from '../api.ts';
import { EmailInput } from '../session/credentials.tsx';
import { NewPasswordInput } from '../session/new-password-input.tsx';
import { ROLE_LABELS, sessionQuery, useLeave, useSession } from '../session/session.ts';
import { CopyField } from '../ui/copy-fields.tsx';
import { useApiForm } from '../ui/forms/api-form.ts';
import { ConfirmDialog, FormDialog } from '../ui/forms/form-dialog.tsx';
import { TextButton, TextLink } from '../ui/links.tsx';
import { notifyDone } from '../ui/notify.ts';
import { Hint } from '../ui/two-lines.tsx';

const KEY = ['users'] as const;

export const teamQuery = (page: number) =>
  queryOptions({
    queryKey: [...KEY, { page }],
    queryFn: () => api.get<z.infer<typeof UserList>>('/users', { page, limit: 50 }),
    placeholderData: keepPreviousData,
  });

export const personName = ({ name, email }: { name: string | null; email: string }): string => name ?? email;

const useTeamChanged = (onClose: () => void) => {
  const queryClient = useQueryClient();
  const changed = () => void queryClient.invalidateQueries({ queryKey: KEY });
  const done = (message: string) => {
    changed();
    notifyDone(message);
    onClose();
  };
  return { changed, done };
};

/** The only refusal that is about one input, though it names no field. */
const ERROR_CODES = { EMAIL_TAKEN: 'email' } as const;

const NAME_HINT = 'Timelines show it. API clients never see the e-mail.';

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

export const InviteDialog = ({ onClose }: { onClose: () => void }) => {
  const { changed, done } = useTeamChanged(onClose);
  const [by, setBy] = useState<'link' | 'password'>('link');
  const [made, setMade] = useState<ShownLink | null>(null);
  const { form, ...dialog } = useApiForm({
    schema: CreateUser,
    initialValues: { email: '', name: '', role: 'STAFF' as UserRole, password: '' },
    bodyOf: ({ password, ...values }) => (by === 'link' ? values : { ...values, password }),
    codes: ERROR_CODES,
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
      {...dialog}
      title="Invite a person"
      action={by === 'link' ? 'Invite' : 'Add person'}
      onClose={onClose}
    >
      <EmailInput autoComplete="off" data-autofocus {...form.getInputProps('email')} />
      <TextInput label="Name" autoComplete="off" description={NAME_HINT} {...form.getInputProps('name')} />
      <RoleInput {...form.getInputProps('role')} />
      {by === 'password' ? <NewPasswordInput label="Password" {...form.getInputProps('password')} /> : null}
      <Hint>
        {by === 'link'
          ? 'They get a link with which they choose their own password.'
          : 'Tell them the password yourself. They can change it in their account.'}{' '}
        <TextButton inherit onClick={() => setBy(by === 'link' ? 'password' : 'link')}>
          {by === 'link' ? 'Give them a password instead' : 'Send a link instead'}
        </TextButton>
      </Hint>
    </FormDialog>
  );
};

interface ShownLink extends NewLink {
  person: User;
}

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'short' });

/** A link to hand on. It is not shown again, but a new one is made in a moment. */
const LinkDialog = (props: ShownLink & { title: string; onClose: () => void }) => {
  const { person, title, link, linkExpiresAt, mailed, onClose } = props;
  return (
    <Modal opened onClose={onClose} title={title} closeOnClickOutside={false} size="lg">
      <Stack>
        {mailed ? (
          <Group gap="sm" wrap="nowrap">
            <Mail size={18} aria-hidden style={{ flex: 'none' }} />
            <Text>The link is on its way to {person.email} by e-mail. You can also hand it on yourself.</Text>
          </Group>
        ) : (
          <Text>Send this link to {personName(person)} yourself: no e-mail was sent.</Text>
        )}
        <CopyField
          label="Link"
          description="They choose their own password there. Anyone with the link can do that, so send it to no one else."
          what="the link"
          value={link}
        />
        <Hint>It works once, until {exact.format(new Date(linkExpiresAt))}. It is shown this once.</Hint>
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    </Modal>
  );
};

interface Props {
  person: User;
  onClose: () => void;
}

const EditDialog = ({ person, onClose }: Props) => {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { user } = useSession();
  const { done } = useTeamChanged(onClose);
  const isSelf = user.id === person.id;
  const { form, ...dialog } = useApiForm({
    schema: ChangeUser,
    initialValues: { email: person.email, name: person.name ?? '', role: person.role },
    codes: ERROR_CODES,
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
    <FormDialog {...dialog} title={`Change ${personName(person)}`} action="Save" onClose={onClose}>
      {isSelf ? (
        <Text size="sm">
          Your e-mail and password you change in{' '}
          <TextLink to="/account" underline="always">
            your account
          </TextLink>
          .
        </Text>
      ) : (
        <EmailInput autoComplete="off" {...form.getInputProps('email')} />
      )}
      <TextInput label="Name" autoComplete="off" description={NAME_HINT} {...form.getInputProps('name')} />
      <RoleInput {...form.getInputProps('role')} />
      {isSelf && form.values.role !== 'ADMIN' ? (
        <Alert color="yellow">This is you: you will no longer see the settings, this page included.</Alert>
      ) : null}
    </FormDialog>
  );
};

const NewLinkDialog = ({ person, onClose }: Props) => {
  const [made, setMade] = useState<NewLink | null>(null);
  const name = personName(person);
  if (made) return <LinkDialog {...made} person={person} title={`A link for ${name}`} onClose={onClose} />;
  return (
    <ConfirmDialog
      title={`A new link for ${name}`}
      action="Make the link"
      send={() => api.post<NewLink>(`/users/${person.id}/link`)}
      onDone={setMade}
      onClose={onClose}
    >
      <Text>
        With it they choose a{' '}
        {person.lastSignInAt ? 'new password, within an hour' : 'password, within 72 hours'}. Links that you
        made before stop working. Until they use it, nothing else changes.
      </Text>
    </ConfirmDialog>
  );
};

const NewPassword = ChangeUser.pick({ password: true }).required();

const PasswordDialog = ({ person, onClose }: Props) => {
  const { done } = useTeamChanged(onClose);
  const { form, ...dialog } = useApiForm({
    schema: NewPassword,
    initialValues: { password: '' },
    send: (body) => api.patch<User>(`/users/${person.id}`, body),
    onDone: (changed) => done(`${personName(changed)} has a new password.`),
  });
  return (
    <FormDialog
      {...dialog}
      title={`A password for ${personName(person)}`}
      action="Set password"
      onClose={onClose}
    >
      <NewPasswordInput label="New password" data-autofocus {...form.getInputProps('password')} />
      <Hint>They are signed out everywhere. No e-mail contains the password: tell it to them yourself.</Hint>
    </FormDialog>
  );
};

const ResetFactorDialog = ({ person, onClose }: Props) => {
  const { done } = useTeamChanged(onClose);
  const name = personName(person);
  return (
    <ConfirmDialog
      title={`Reset the second factor of ${name}?`}
      action="Reset"
      dangerous
      send={() => api.delete<null>(`/users/${person.id}/second-factor`)}
      onDone={() => done(`${name} has no second factor any more.`)}
      onClose={onClose}
    >
      <Text>
        For a person who lost their phone. They are signed out everywhere and then sign in with their password
        alone. Make sure that it is really {name} who asks you.
      </Text>
    </ConfirmDialog>
  );
};

const RemoveDialog = ({ person, onClose }: Props) => {
  const { user } = useSession();
  const { done } = useTeamChanged(onClose);
  const leave = useLeave();
  const isSelf = user.id === person.id;
  return (
    <ConfirmDialog
      title={`Remove ${personName(person)}?`}
      action="Remove person"
      dangerous
      send={() => api.delete<null>(`/users/${person.id}`)}
      onDone={() => (isSelf ? leave() : done(`${personName(person)} is removed.`))}
      onClose={onClose}
    >
      <Text>
        {isSelf
          ? 'This is you: you are signed out at once and cannot come back by yourself.'
          : 'They are signed out at once and can no longer sign in. What they did stays in the timelines and in the audit log.'}
      </Text>
    </ConfirmDialog>
  );
};

export const PERSON_DIALOGS = {
  edit: EditDialog,
  link: NewLinkDialog,
  password: PasswordDialog,
  factor: ResetFactorDialog,
  remove: RemoveDialog,
} satisfies Record<string, ComponentType<Props>>;
