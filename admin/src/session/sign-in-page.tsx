import { Alert, Button, Card, Center, PasswordInput, Stack, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { api } from '../api.ts';
import { useTabTitle } from '../ui/page-title.tsx';
import { rememberSignIn, type Session, sessionQuery } from './session.ts';

const route = getRouteApi('/sign-in');

export const SignInPage = () => {
  useTabTitle('Sign in');
  const { to } = route.useSearch();
  const router = useRouter();
  const queryClient = useQueryClient();
  const form = useForm({ initialValues: { email: '', password: '' } });
  const signIn = useMutation({
    mutationFn: (values: typeof form.values) => api.post<Session>('/session', values),
    onSuccess: (session) => {
      rememberSignIn(true);
      queryClient.setQueryData(sessionQuery.queryKey, session);
      // Only an address of this app: a forged link must not lead elsewhere after the sign-in.
      router.history.push(to?.startsWith('/') && !to.startsWith('//') ? `/admin${to}` : '/admin/');
    },
  });
  return (
    <Center mih="100vh" p="md" component="main">
      <Card withBorder w="100%" maw={380} p="xl">
        <form onSubmit={form.onSubmit((values) => signIn.mutate(values))}>
          <Stack>
            <Title order={1} size="h3">
              Sign in to Handback
            </Title>
            {signIn.error ? (
              <Alert color="red" role="alert">
                {signIn.error.message}
              </Alert>
            ) : null}
            <TextInput
              label="E-mail"
              type="email"
              autoComplete="username"
              required
              autoFocus
              {...form.getInputProps('email')}
            />
            <PasswordInput
              label="Password"
              autoComplete="current-password"
              required
              {...form.getInputProps('password')}
            />
            <Button type="submit" loading={signIn.isPending}>
              Sign in
            </Button>
          </Stack>
        </form>
      </Card>
    </Center>
  );
};
