import { Alert, Button, Checkbox, Group, Modal, Radio, Stack, Text, TextInput } from '@mantine/core';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
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
import { dateFormat } from '../format.ts';
import { EmailInput } from '../session/credentials.tsx';
import { NewPasswordInput } from '../session/new-password-input.tsx';
import { useProviderName } from '../session/provider.tsx';
import { ROLE_LABELS, sessionQuery, signInOptionsQuery, useLeave, useSession } from '../session/session.ts';
import { texts } from '../texts.ts';
import { CopyField } from '../ui/copy-fields.tsx';
import { useApiForm } from '../ui/forms/api-form.ts';
import { ConfirmDialog, FormDialog } from '../ui/forms/form-dialog.tsx';
import { TextButton, TextLink } from '../ui/links.tsx';
import { notifyDone } from '../ui/notify.ts';
import { Hint } from '../ui/two-lines.tsx';

const t = texts.team;

/** Everyone, page by page, so that the page can search and order them. */
export const teamQuery = queryOptions({
  queryKey: ['users'],
  queryFn: async () => {
    const people: User[] = [];
    for (let page = 1, totalPages = 1; page <= totalPages; page++) {
      const list = await api.get<z.infer<typeof UserList>>('/users', { page, limit: 100 });
      people.push(...list.items);
      totalPages = list.totalPages;
    }
    return people;
  },
});

export const personName = ({ name, email }: { name: string | null; email: string }): string => name ?? email;

const useTeamChanged = (onClose: () => void) => {
  const queryClient = useQueryClient();
  const changed = () => void queryClient.invalidateQueries(teamQuery);
  const done = (message: string) => {
    changed();
    notifyDone(message);
    onClose();
  };
  return { changed, done };
};

/** The only refusal that is about one input, though it names no field. */
const ERROR_CODES = { EMAIL_TAKEN: 'email' } as const;

const RoleInput = ({ value, ...input }: { value?: string; onChange?: (value: string) => void }) => (
  <Radio.Group label={t.role} value={value ?? null} {...input}>
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
      if (!link || !linkExpiresAt) return done(t.canSignIn(personName(person)));
      changed();
      setMade({ person, link, linkExpiresAt, mailed });
    },
  });
  if (made) return <LinkDialog {...made} title={t.invited(personName(made.person))} onClose={onClose} />;
  return (
    <FormDialog
      {...dialog}
      title={t.inviteTitle}
      action={by === 'link' ? t.inviteAction : t.addAction}
      onClose={onClose}
    >
      <EmailInput autoComplete="off" data-autofocus {...form.getInputProps('email')} />
      <TextInput label={t.name} autoComplete="off" description={t.nameHint} {...form.getInputProps('name')} />
      <RoleInput {...form.getInputProps('role')} />
      {by === 'password' ? <NewPasswordInput label={t.password} {...form.getInputProps('password')} /> : null}
      <Hint>
        {by === 'link' ? t.byLink : t.byPassword}{' '}
        <TextButton inherit onClick={() => setBy(by === 'link' ? 'password' : 'link')}>
          {by === 'link' ? t.passwordInstead : t.linkInstead}
        </TextButton>
      </Hint>
    </FormDialog>
  );
};

interface ShownLink extends NewLink {
  person: User;
}

const exact = dateFormat({ dateStyle: 'full', timeStyle: 'short' });

/** A link to hand on. It is not shown again, but a new one is made in a moment. */
const LinkDialog = (props: ShownLink & { title: string; onClose: () => void }) => {
  const { person, title, link, linkExpiresAt, mailed, onClose } = props;
  return (
    <Modal opened onClose={onClose} title={title} closeOnClickOutside={false} size="lg">
      <Stack>
        {mailed ? (
          <Group gap="sm" wrap="nowrap">
            <Mail size={18} style={{ flex: 'none' }} />
            <Text style={{ overflowWrap: 'anywhere' }}>{t.linkMailed(person.email)}</Text>
          </Group>
        ) : (
          <Text style={{ overflowWrap: 'anywhere' }}>{t.linkNotMailed(personName(person))}</Text>
        )}
        <CopyField label={t.link} description={t.linkHint} what={t.theLink} value={link} />
        <Hint>{t.linkUntil(exact.format(new Date(linkExpiresAt)))}</Hint>
        <Group justify="flex-end">
          <Button onClick={onClose}>{t.done}</Button>
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
  const provider = useQuery(signInOptionsQuery).data?.provider;
  const { form, ...dialog } = useApiForm({
    schema: ChangeUser,
    initialValues: { email: person.email, name: person.name ?? '', role: person.role, confirms: false },
    codes: ERROR_CODES,
    // Only what changed here: a colleague may be changing the rest, and an earlier email may be one that no new one can be.
    bodyOf: ({ email, name, role, confirms }) => ({
      ...(email === person.email && !confirms ? {} : { email }),
      ...(name === (person.name ?? '') ? {} : { name }),
      ...(role === person.role ? {} : { role }),
    }),
    send: (body) => api.patch<User>(`/users/${person.id}`, body),
    onDone: async (changed) => {
      if (isSelf) await queryClient.refetchQueries(sessionQuery);
      done(t.saved(personName(changed)));
      if (isSelf && changed.role !== 'ADMIN') await navigate({ to: '/' });
    },
  });
  return (
    <FormDialog {...dialog} title={t.editTitle(personName(person))} action={t.save} onClose={onClose}>
      {isSelf ? (
        <TextLink to="/account" size="sm">
          {t.ownElsewhere}
        </TextLink>
      ) : (
        <EmailInput autoComplete="off" {...form.getInputProps('email')} />
      )}
      {isSelf || person.emailConfirmed || !provider ? null : (
        <Checkbox
          label={t.confirmEmail}
          description={t.confirmEmailHint(provider)}
          {...form.getInputProps('confirms', { type: 'checkbox' })}
        />
      )}
      <TextInput label={t.name} autoComplete="off" description={t.nameHint} {...form.getInputProps('name')} />
      <RoleInput {...form.getInputProps('role')} />
      {isSelf && form.values.role !== 'ADMIN' ? <Alert color="yellow">{t.losesSettings}</Alert> : null}
    </FormDialog>
  );
};

/** What an Admin should know before they give a password to a person of the identity provider. */
const BesideProvider = ({ person }: { person: User }) => {
  const provider = useProviderName();
  return person.providerOnly ? (
    <Alert color="yellow">{t.besideProvider(personName(person), provider)}</Alert>
  ) : null;
};

const NewLinkDialog = ({ person, onClose }: Props) => {
  const [made, setMade] = useState<NewLink | null>(null);
  const name = personName(person);
  if (made) return <LinkDialog {...made} person={person} title={t.linkReady(name)} onClose={onClose} />;
  return (
    <ConfirmDialog
      title={t.linkTitle(name)}
      action={t.linkAction}
      send={() => api.post<NewLink>(`/users/${person.id}/link`, { besideProvider: person.providerOnly })}
      onDone={setMade}
      onClose={onClose}
    >
      <BesideProvider person={person} />
      <Text>{person.lastSignInAt ? t.linkAgain : t.linkFirst}</Text>
    </ConfirmDialog>
  );
};

const NewPassword = ChangeUser.pick({ password: true }).required();

const PasswordDialog = ({ person, onClose }: Props) => {
  const { done } = useTeamChanged(onClose);
  const { form, ...dialog } = useApiForm({
    schema: NewPassword,
    initialValues: { password: '' },
    send: (body) => api.patch<User>(`/users/${person.id}`, { ...body, besideProvider: person.providerOnly }),
    onDone: (changed) => done(t.passwordSet(personName(changed))),
  });
  return (
    <FormDialog
      {...dialog}
      title={t.passwordTitle(personName(person))}
      action={t.passwordAction}
      onClose={onClose}
    >
      <BesideProvider person={person} />
      <NewPasswordInput label={t.newPassword} data-autofocus {...form.getInputProps('password')} />
      <Hint>{t.passwordHint}</Hint>
    </FormDialog>
  );
};

const ResetFactorDialog = ({ person, onClose }: Props) => {
  const { done } = useTeamChanged(onClose);
  const name = personName(person);
  return (
    <ConfirmDialog
      title={t.resetTitle(name)}
      action={t.resetAction}
      dangerous
      send={() => api.delete<null>(`/users/${person.id}/second-factor`)}
      onDone={() => done(t.resetDone(name))}
      onClose={onClose}
    >
      <Text>{t.resetIntro(name)}</Text>
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
      title={t.removeTitle(personName(person))}
      action={t.removeAction}
      dangerous
      send={() => api.delete<null>(`/users/${person.id}`)}
      onDone={() => (isSelf ? leave() : done(t.removed(personName(person))))}
      onClose={onClose}
    >
      <Text>{isSelf ? t.removeSelf : t.removeIntro}</Text>
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
