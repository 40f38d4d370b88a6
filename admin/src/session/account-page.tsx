import { Button, Card, DataList, Group, Stack, TextInput, Title, VisuallyHidden } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ChangeEmail } from '../../../contract/admin-access.ts';
import { ChangePassword } from '../../../contract/admin-people.ts';
import { api } from '../api.ts';
import { FormFailure } from '../ui/error-alert.tsx';
import { useApiForm } from '../ui/forms/api-form.ts';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { notifyDone } from '../ui/notify.ts';
import { PageFrame } from '../ui/page-frame.tsx';
import { BreakableEmail } from '../ui/two-lines.tsx';
import { NewPasswordInput, type ProofBy, ProofInput } from './inputs.tsx';
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
        <DataList.Item>
          <DataList.ItemLabel>E-mail</DataList.ItemLabel>
          <DataList.ItemValue>
            <Group gap="sm">
              <BreakableEmail email={user.email} />
              <Button size="compact-sm" variant="default" onClick={() => setChangingEmail(true)}>
                Change<VisuallyHidden> your e-mail</VisuallyHidden>
              </Button>
            </Group>
          </DataList.ItemValue>
        </DataList.Item>
        {user.name ? (
          <DataList.Item>
            <DataList.ItemLabel>Name</DataList.ItemLabel>
            <DataList.ItemValue>{user.name}</DataList.ItemValue>
          </DataList.Item>
        ) : null}
        <DataList.Item>
          <DataList.ItemLabel>Role</DataList.ItemLabel>
          <DataList.ItemValue>{ROLE_LABELS[user.role].name}</DataList.ItemValue>
        </DataList.Item>
        <DataList.Item>
          <DataList.ItemLabel>Shop</DataList.ItemLabel>
          <DataList.ItemValue>{shop.name}</DataList.ItemValue>
        </DataList.Item>
      </DataList>
      <Card withBorder maw={720} component="section" aria-labelledby="change-password">
        <Title order={3} size="h4" mb="md" id="change-password">
          Change your password
        </Title>
        {/* A new form after each change, so that no password stays in it. */}
        <PasswordForm key={passwords} onDone={() => setPasswords(passwords + 1)} />
      </Card>
      <FactorCard />
      <OwnSessionsCard />
      {changingEmail ? <EmailDialog onClose={() => setChangingEmail(false)} /> : null}
    </PageFrame>
  );
};

const PROOF = { by: 'password' as ProofBy, currentPassword: '', code: '' };
type ProofValues = typeof PROOF;

const proofIn = ({ by, currentPassword, code }: ProofValues) =>
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
  const { form, submit, busy, failure } = useApiForm({
    schema: ChangePassword,
    initialValues: { ...PROOF, newPassword: '' },
    bodyOf: ({ newPassword, ...proof }) => ({ newPassword, ...proofIn(proof) }),
    send: (body) => api.put<Session>('/session/password', body),
    onDone: useChanged('Your password is changed.', onDone),
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack maw={420}>
        <FormFailure failure={failure} />
        <ProofInput
          by={form.values.by}
          onSwitch={(by) => form.setValues({ ...PROOF, by })}
          password={form.getInputProps('currentPassword')}
          code={{ ...form.getInputProps('code'), onClear: () => form.setFieldValue('code', '') }}
        />
        <NewPasswordInput
          label="New password"
          {...form.getInputProps('newPassword')}
          onSuggest={(password) => form.setFieldValue('newPassword', password)}
        />
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
  const { form, submit, busy, failure } = useApiForm({
    schema: ChangeEmail,
    initialValues: { ...PROOF, email: '' },
    bodyOf: ({ email, ...proof }) => ({ email, ...proofIn(proof) }),
    codes: { EMAIL_TAKEN: 'email' },
    send: (body) => api.put<Session>('/session/email', body),
    onDone: useChanged('Your e-mail is changed. You sign in with the new one from now on.', onClose),
  });
  return (
    <FormDialog
      title="Change your e-mail"
      action="Change e-mail"
      busy={busy}
      failure={failure}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextInput
        label="New e-mail"
        type="email"
        autoComplete="off"
        required
        data-autofocus
        {...form.getInputProps('email')}
      />
      <ProofInput
        by={form.values.by}
        onSwitch={(by) => form.setValues({ ...PROOF, by })}
        password={form.getInputProps('currentPassword')}
        code={{ ...form.getInputProps('code'), onClear: () => form.setFieldValue('code', '') }}
      />
    </FormDialog>
  );
};
