import { Badge, Button, DataList, Group, Stack, VisuallyHidden } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { ChangeEmail, type OwnSession } from '../../../contract/admin-access.ts';
import { ChangePassword } from '../../../contract/admin-people.ts';
import { api } from '../api.ts';
import { DataTable } from '../ui/data-table.tsx';
import { useApiForm } from '../ui/forms/api-form.ts';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { notifyDone } from '../ui/notify.ts';
import { PageFrame, Section } from '../ui/page-frame.tsx';
import { FormFailure, QueryView } from '../ui/query-view.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';
import { BreakableEmail, Hint } from '../ui/two-lines.tsx';
import { EmailInput, type ProofBy, ProofInput } from './credentials.tsx';
import { NewPasswordInput } from './new-password-input.tsx';
import { FactorCard } from './second-factor/factor-card.tsx';
import { ownSessionsQuery, ROLE_LABELS, type Session, sessionQuery, useSession } from './session.ts';

export const AccountPage = () => {
  const { user, shop } = useSession();
  const [passwords, setPasswords] = useState(0);
  const [changingEmail, setChangingEmail] = useState(false);
  return (
    <PageFrame title="Account and password">
      <DataList labelWidth="6rem">
        <Fact label="E-mail">
          <Group gap="sm">
            <BreakableEmail email={user.email} />
            <Button size="compact-sm" variant="default" onClick={() => setChangingEmail(true)}>
              Change<VisuallyHidden> your e-mail</VisuallyHidden>
            </Button>
          </Group>
        </Fact>
        {user.name ? <Fact label="Name">{user.name}</Fact> : null}
        <Fact label="Role">{ROLE_LABELS[user.role].name}</Fact>
        <Fact label="Shop">{shop.name}</Fact>
      </DataList>
      <Section title="Change your password" size="h4" maw={720}>
        {/* A new form after each change, so that no password stays in it. */}
        <PasswordForm key={passwords} onDone={() => setPasswords(passwords + 1)} />
      </Section>
      <FactorCard />
      <OwnSessionsCard />
      {changingEmail ? <EmailDialog onClose={() => setChangingEmail(false)} /> : null}
    </PageFrame>
  );
};

const Fact = ({ label, children }: { label: string; children: ReactNode }) => (
  <DataList.Item>
    <DataList.ItemLabel>{label}</DataList.ItemLabel>
    <DataList.ItemValue>{children}</DataList.ItemValue>
  </DataList.Item>
);

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

const PasswordForm = ({ onDone }: { onDone: () => void }) => {
  const { form, onSubmit, busy, failure } = useApiForm({
    schema: ChangePassword,
    initialValues: { ...PROOF, newPassword: '' },
    bodyOf: ({ newPassword, ...proof }) => ({ newPassword, ...proofIn(proof) }),
    send: (body) => api.put<Session>('/session/password', body),
    onDone: useChanged('Your password is changed.', onDone),
  });
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack maw={420}>
        <FormFailure failure={failure} />
        <ProofInput
          form={form}
          password="currentPassword"
          onSwitch={(by) => form.setValues({ ...PROOF, by })}
        />
        <NewPasswordInput label="New password" {...form.getInputProps('newPassword')} />
        <div>
          <Button type="submit" loading={busy}>
            Change password
          </Button>
        </div>
        <small>You stay signed in here; everywhere else you are signed out.</small>
      </Stack>
    </form>
  );
};

const EmailDialog = ({ onClose }: { onClose: () => void }) => {
  const { form, ...dialog } = useApiForm({
    schema: ChangeEmail,
    initialValues: { ...PROOF, email: '' },
    bodyOf: ({ email, ...proof }) => ({ email, ...proofIn(proof) }),
    codes: { EMAIL_TAKEN: 'email' },
    send: (body) => api.put<Session>('/session/email', body),
    onDone: useChanged('Your e-mail is changed. You sign in with the new one from now on.', onClose),
  });
  return (
    <FormDialog {...dialog} title="Change your e-mail" action="Change e-mail" onClose={onClose}>
      <EmailInput label="New e-mail" autoComplete="off" data-autofocus {...form.getInputProps('email')} />
      <ProofInput
        form={form}
        password="currentPassword"
        onSwitch={(by) => form.setValues({ ...PROOF, by })}
      />
    </FormDialog>
  );
};

/** Where the person is signed in, so that they see a session that is not theirs and end it. */
const OwnSessionsCard = () => {
  const sessions = useQuery(ownSessionsQuery);
  const queryClient = useQueryClient();
  const end = useMutation({
    // null: all but this one.
    mutationFn: (session: OwnSession | null) =>
      api.delete<null>(session ? `/session/sessions/${session.id}` : '/session/sessions'),
    onSuccess: (_answer, session) =>
      notifyDone(session ? `${nameOf(session)} is signed out.` : 'You are signed out everywhere else.'),
    onSettled: () => queryClient.invalidateQueries(ownSessionsQuery),
  });
  return (
    <Section title="Where you are signed in" size="h4" maw={720}>
      <Stack>
        <FormFailure failure={end.error} />
        <QueryView query={sessions}>
          {({ items }) => (
            <>
              <SessionTable sessions={items} onEnd={end.mutate} />
              {items.length > 1 ? (
                <Group gap="sm">
                  <Button variant="default" onClick={() => end.mutate(null)} loading={end.isPending}>
                    Sign out everywhere else
                  </Button>
                  <Hint>Do you not recognize one of these? Sign it out, then change your password.</Hint>
                </Group>
              ) : null}
            </>
          )}
        </QueryView>
      </Stack>
    </Section>
  );
};

const nameOf = ({ browser }: OwnSession): string => browser ?? 'Unknown browser';

interface TableProps {
  sessions: readonly OwnSession[];
  onEnd: (session: OwnSession) => void;
}

const SessionTable = ({ sessions, onEnd }: TableProps) => (
  <DataTable
    caption="Your sessions, the one used last first"
    columns={[
      {
        header: 'Browser',
        width: '45%',
        cell: (session) => (
          <Group gap="xs" component="span">
            {nameOf(session)}
            {session.isCurrent ? <Badge variant="default">This one</Badge> : null}
          </Group>
        ),
      },
      { header: 'Address', cell: ({ address }) => address },
      { header: 'Last use', noWrap: true, cell: ({ lastUsedAt }) => <RelativeTime at={lastUsedAt} /> },
    ]}
    rows={sessions}
    nameOf={nameOf}
    actions={(session) =>
      session.isCurrent ? null : (
        <Button
          size="xs"
          variant="default"
          aria-label={`Sign out ${nameOf(session)} at ${session.address}`}
          onClick={() => onEnd(session)}
        >
          Sign out
        </Button>
      )
    }
  />
);
