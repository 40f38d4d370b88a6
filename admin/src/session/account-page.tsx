import { Alert, Button, Card, DataList, PasswordInput, Stack, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ChangePassword } from '../../../contract/admin-people.ts';
import { api } from '../api.ts';
import { useApiForm } from '../ui/forms/api-form.ts';
import { notifyDone } from '../ui/notify.ts';
import { PageFrame } from '../ui/page-frame.tsx';
import { NewPasswordInput } from './new-password-input.tsx';
import { ROLE_LABELS } from './roles.ts';
import { FactorCard } from './second-factor/factor-card.tsx';
import { type Session, sessionQuery, useSession } from './session.ts';

export const AccountPage = () => {
  const { user, shop } = useSession();
  const [changes, setChanges] = useState(0);
  return (
    <PageFrame title="Account and password">
      <DataList labelWidth="6rem">
        <DataList.Item>
          <DataList.ItemLabel>E-mail</DataList.ItemLabel>
          <DataList.ItemValue>{user.email}</DataList.ItemValue>
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
        <PasswordForm key={changes} email={user.email} onDone={() => setChanges(changes + 1)} />
      </Card>
      <FactorCard />
    </PageFrame>
  );
};

const PasswordForm = ({ email, onDone }: { email: string; onDone: () => void }) => {
  const queryClient = useQueryClient();
  const { form, submit, busy, failure } = useApiForm({
    schema: ChangePassword,
    initialValues: { currentPassword: '', newPassword: '' },
    send: (body) => api.put<Session>('/session/password', body),
    onDone: (session) => {
      queryClient.setQueryData(sessionQuery.queryKey, session);
      notifyDone('Your password is changed.');
      onDone();
    },
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack maw={420}>
        {failure ? (
          <Alert color="red" role="alert">
            {failure.message}
          </Alert>
        ) : null}
        {/* Tells a password manager whose password this is. */}
        <input type="text" autoComplete="username" value={email} readOnly hidden />
        <PasswordInput
          label="Current password"
          autoComplete="current-password"
          required
          visibilityToggleButtonProps={{ 'aria-label': 'Show the current password' }}
          {...form.getInputProps('currentPassword')}
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
