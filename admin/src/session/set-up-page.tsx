import { Alert, Button, Card, Center, Stack, Text, TextInput, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { SetUp } from '../../../contract/admin-people.ts';
import { api } from '../api.ts';
import { useApiForm } from '../ui/forms/api-form.ts';
import { useTabTitle } from '../ui/page-title.tsx';
import { NewPasswordInput } from './new-password-input.tsx';
import { rememberSignIn, type Session, sessionQuery } from './session.ts';

const route = getRouteApi('/set-up');

/** The first page of a new installation: creates the first shop and its Admin. */
export const SetUpPage = () => {
  useTabTitle('Set up');
  const { token = '' } = route.useSearch();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const { form, submit, busy, failure } = useApiForm({
    schema: SetUp,
    initialValues: { token, shopName: '', email: '', name: '', password: '' },
    send: async (body) => {
      await api.post('/set-up', body);
      return api.post<Session>('/session', { email: body.email, password: body.password });
    },
    onDone: (session) => {
      rememberSignIn(true);
      queryClient.setQueryData(sessionQuery.queryKey, session);
      void navigate({ to: '/' });
    },
  });
  return (
    <Center mih="100vh" p="md" component="main">
      <Card withBorder w="100%" maw={420} p="xl">
        <form onSubmit={submit} noValidate>
          <Stack>
            <Title order={1} size="h3">
              Welcome to Handback
            </Title>
            <Text c="dimmed" size="sm">
              Make your shop and the account of its Admin. More people and API clients are added afterwards.
            </Text>
            {failure ? (
              <Alert color="red" role="alert">
                {failure.message}
              </Alert>
            ) : null}
            <TextInput label="Name of the shop" required autoFocus {...form.getInputProps('shopName')} />
            <TextInput
              label="Your e-mail"
              type="email"
              autoComplete="username"
              required
              {...form.getInputProps('email')}
            />
            <TextInput label="Your name" autoComplete="name" {...form.getInputProps('name')} />
            <NewPasswordInput
              label="Password"
              required
              {...form.getInputProps('password')}
              onSuggest={(password) => form.setFieldValue('password', password)}
            />
            <Button type="submit" loading={busy}>
              Make the shop
            </Button>
          </Stack>
        </form>
      </Card>
    </Center>
  );
};
