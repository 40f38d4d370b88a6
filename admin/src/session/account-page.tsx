import { Button, DataList, Group, Stack, TextInput, VisuallyHidden } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { ChangeEmail } from '../../../contract/admin-access.ts';
import { ChangePassword } from '../../../contract/admin-people.ts';
import { api } from '../api.ts';
import { FormFailure } from '../ui/error-alert.tsx';
import { useApiForm } from '../ui/forms/api-form.ts';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { notifyDone } from '../ui/notify.ts';
import { PageFrame, Section } from '../ui/page-frame.tsx';
import { BreakableEmail } from '../ui/two-lines.tsx';
import { NewPasswordInput, type ProofBy, ProofInput } from './credentials.tsx';
import { OwnSessionsCard, ownSessionsQuery } from './own-sessions.tsx';
import { FactorCard } from './second-factor/factor-card.tsx';
import { ROLE_LABELS, type Session, sessionQuery, useSession } from './session.ts';

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

/** What both forms do once the service took them. */
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
      <TextInput
        label="New e-mail"
        type="email"
        autoComplete="off"
        required
        data-autofocus
        {...form.getInputProps('email')}
      />
      <ProofInput
        form={form}
        password="currentPassword"
        onSwitch={(by) => form.setValues({ ...PROOF, by })}
      />
    </FormDialog>
  );
};
