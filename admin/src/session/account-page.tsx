import { Badge, Button, DataList, Group, Stack, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { ChangeEmail, type OwnSession, SecondFactorCode } from '../../../contract/admin-access.ts';
import { ChangePassword, ChangeUser } from '../../../contract/admin-people.ts';
import { NewPassword } from '../../../contract/person-fields.ts';
import { api } from '../api.ts';
import { texts } from '../texts.ts';
import { DataTable } from '../ui/data-table.tsx';
import { useApiForm } from '../ui/forms/api-form.ts';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { notifyDone } from '../ui/notify.ts';
import { PageFrame, Section } from '../ui/page-frame.tsx';
import { FormFailure, QueryView } from '../ui/query-view.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';
import { BreakableEmail, Hint } from '../ui/two-lines.tsx';
import { CodeInput, EmailInput, type ProofBy, ProofInput, UsernameInput } from './credentials.tsx';
import { NewPasswordInput } from './new-password-input.tsx';
import { FactorCard } from './second-factor/factor-card.tsx';
import {
  ownSessionsQuery,
  roleName,
  type Session,
  sessionQuery,
  signInOptionsQuery,
  useSession,
} from './session.ts';

const { account: t, session: words } = texts;

export const AccountPage = () => {
  const { user, shop } = useSession();
  return (
    <PageFrame title={t.account} intro={t.accountIntro(roleName(user.role), shop.name)}>
      <Profile />
      <FactorCard />
      <Devices />
    </PageFrame>
  );
};

type Changed = 'name' | 'email' | 'password';

/** Only an Admin's own name can be changed from here: the service lets Admins change users. */
const Profile = () => {
  const { user } = useSession();
  const { data: options } = useQuery(signInOptionsQuery);
  const [dialog, setDialog] = useState<Changed | null>(null);
  const close = () => setDialog(null);
  const button = (name: Changed, what: string) => (
    <Button size="compact-sm" variant="default" flex="none" aria-label={what} onClick={() => setDialog(name)}>
      {t.change}
    </Button>
  );
  return (
    <Section title={t.profile} maw={720}>
      <DataList labelWidth="6rem">
        <Fact label={t.name}>
          {user.name ? <bdi>{user.name}</bdi> : <Hint>{t.noName}</Hint>}
          {user.role === 'ADMIN' ? button('name', t.changeName) : <Hint>{t.nameByAdmin}</Hint>}
        </Fact>
        <Fact label={words.email}>
          <span>
            <BreakableEmail email={user.email} />
          </span>
          {button('email', t.changeEmail)}
        </Fact>
        {options?.passwords === false || user.providerOnly ? null : (
          <Fact label={words.password}>
            <span aria-hidden>••••••••</span>
            {button('password', t.changeYourPassword)}
          </Fact>
        )}
      </DataList>
      {dialog === 'name' ? <NameDialog onClose={close} /> : null}
      {dialog === 'email' ? <EmailDialog onClose={close} /> : null}
      {dialog === 'password' ? <PasswordDialog onClose={close} /> : null}
    </Section>
  );
};

const Fact = ({ label, children }: { label: string; children: ReactNode }) => (
  <DataList.Item>
    <DataList.ItemLabel>{label}</DataList.ItemLabel>
    <DataList.ItemValue flex={1}>
      <Group gap="sm" justify="space-between" wrap="nowrap" w="100%">
        {children}
      </Group>
    </DataList.ItemValue>
  </DataList.Item>
);

const OwnName = ChangeUser.pick({ name: true });

const NameDialog = ({ onClose }: { onClose: () => void }) => {
  const { user } = useSession();
  const queryClient = useQueryClient();
  const { form, ...dialog } = useApiForm({
    schema: OwnName,
    initialValues: { name: user.name ?? '' },
    send: (body) => api.patch(`/users/${user.id}`, body),
    onDone: async () => {
      await queryClient.refetchQueries(sessionQuery);
      notifyDone(t.nameChanged);
      onClose();
    },
  });
  return (
    <FormDialog {...dialog} title={t.changeName} action={t.changeNameAction} size="md" onClose={onClose}>
      <TextInput
        label={t.name}
        description={t.nameHint}
        autoComplete="name"
        data-autofocus
        {...form.getInputProps('name')}
      />
    </FormDialog>
  );
};

const PROOF = { by: 'password' as ProofBy, currentPassword: '', code: '' };

const proofIn = ({ by, currentPassword, code }: typeof PROOF) =>
  by === 'password' ? { currentPassword } : { code: code || null };

const useChanged = (message: string, onDone: () => void) => {
  const queryClient = useQueryClient();
  return (session: Session): void => {
    queryClient.setQueryData(sessionQuery.queryKey, session);
    void queryClient.invalidateQueries(ownSessionsQuery);
    notifyDone(message);
    onDone();
  };
};

/** With two-step verification a new password takes a code. */
const ChangePasswordByCode = SecondFactorCode.extend({ newPassword: NewPassword });

const PasswordDialog = ({ onClose }: { onClose: () => void }) => {
  const { email, secondFactor } = useSession().user;
  const { form, ...dialog } = useApiForm({
    schema: secondFactor ? ChangePasswordByCode : ChangePassword,
    initialValues: { ...PROOF, by: (secondFactor ? 'code' : 'password') as ProofBy, newPassword: '' },
    bodyOf: ({ newPassword, ...proof }) => ({ newPassword, ...proofIn(proof) }),
    send: (body) => api.put<Session>('/session/password', body),
    onDone: useChanged(t.passwordChanged, onClose),
  });
  return (
    <FormDialog
      {...dialog}
      title={t.changeYourPassword}
      action={t.changePassword}
      size="md"
      onClose={onClose}
    >
      {secondFactor ? (
        <>
          <UsernameInput email={email} />
          <CodeInput autoFocus data-autofocus {...form.getInputProps('code')} />
        </>
      ) : (
        <ProofInput form={form} password="currentPassword" focused />
      )}
      <NewPasswordInput label={t.newPassword} {...form.getInputProps('newPassword')} />
      <Hint>{t.passwordHint}</Hint>
    </FormDialog>
  );
};

const EmailDialog = ({ onClose }: { onClose: () => void }) => {
  const { throughProvider } = useSession().user;
  const { form, ...dialog } = useApiForm({
    schema: ChangeEmail,
    initialValues: { ...PROOF, email: '' },
    // A person who came through the identity provider confirms it there, when the service asks for it.
    bodyOf: ({ email, ...proof }) => ({ email, ...(throughProvider ? {} : proofIn(proof)) }),
    codes: { EMAIL_TAKEN: 'email' },
    send: (body) => api.put<Session>('/session/email', body),
    onDone: useChanged(t.emailChanged, onClose),
  });
  return (
    <FormDialog {...dialog} title={t.changeEmail} action={t.changeEmailAction} size="md" onClose={onClose}>
      <EmailInput label={t.newEmail} autoComplete="off" data-autofocus {...form.getInputProps('email')} />
      {throughProvider ? null : <ProofInput form={form} password="currentPassword" />}
    </FormDialog>
  );
};

const SHOWN = 5;

/** Where the person is signed in, so that they see a session that is not theirs and end it. */
const Devices = () => {
  const sessions = useQuery(ownSessionsQuery);
  const [isWhole, showWhole] = useState(false);
  const queryClient = useQueryClient();
  const end = useMutation({
    // null: all but this one.
    mutationFn: (session: OwnSession | null) =>
      api.delete<null>(session ? `/session/sessions/${session.id}` : '/session/sessions'),
    onSuccess: (_answer, session) => notifyDone(session ? t.signedOutOf(nameOf(session)) : t.signedOutOthers),
    onSettled: () => queryClient.invalidateQueries(ownSessionsQuery),
  });
  return (
    <Section title={t.devices} maw={720}>
      <Stack>
        <FormFailure failure={end.error} />
        <QueryView query={sessions}>
          {({ items }) => (
            <>
              <SessionTable sessions={isWhole ? items : items.slice(0, SHOWN)} onEnd={end.mutate} />
              {items.length > 1 ? (
                <Group gap="sm">
                  {isWhole || items.length <= SHOWN ? null : (
                    <Button variant="default" onClick={() => showWhole(true)}>
                      {t.showAll(items.length)}
                    </Button>
                  )}
                  <Button variant="default" onClick={() => end.mutate(null)} loading={end.isPending}>
                    {t.signOutOthers}
                  </Button>
                  <Hint>{t.unknownDevices}</Hint>
                </Group>
              ) : null}
            </>
          )}
        </QueryView>
      </Stack>
    </Section>
  );
};

const nameOf = ({ browser }: OwnSession): string => browser ?? t.unknownDevice;

interface TableProps {
  sessions: readonly OwnSession[];
  onEnd: (session: OwnSession) => void;
}

const SessionTable = ({ sessions, onEnd }: TableProps) => (
  <DataTable
    caption={t.devicesCaption}
    columns={[
      {
        header: t.device,
        width: '45%',
        cell: (session) => (
          <Group gap="xs" component="span">
            {nameOf(session)}
            {session.isCurrent ? <Badge variant="default">{t.thisDevice}</Badge> : null}
          </Group>
        ),
      },
      { header: t.address, cell: ({ address }) => address },
      { header: t.lastActive, noWrap: true, cell: ({ lastUsedAt }) => <RelativeTime at={lastUsedAt} /> },
    ]}
    rows={sessions}
    nameOf={nameOf}
    actions={(session) =>
      session.isCurrent ? null : (
        <Button
          size="xs"
          variant="default"
          aria-label={t.signOutOf(nameOf(session), session.address)}
          onClick={() => onEnd(session)}
        >
          {t.signOut}
        </Button>
      )
    }
  />
);
