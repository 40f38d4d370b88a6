import { Button, Stack, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { SetUp } from '../../../contract/admin-set-up.ts';
import { ApiError, api } from '../api.ts';
import { useApiForm } from '../ui/forms/api-form.ts';
import { ButtonLink } from '../ui/links.tsx';
import { Loading } from '../ui/loading.tsx';
import { FormFailure } from './form-failure.tsx';
import { NewPasswordInput } from './new-password-input.tsx';
import { rememberSignIn, type Session, sessionQuery } from './session.ts';
import { SignedOutFrame } from './signed-out-frame.tsx';

const route = getRouteApi('/set-up');
const TAB = 'Set up';

/** The first page of a new installation: creates the first shop and its Admin. */
export const SetUpPage = (): ReactNode => {
  const { token = '' } = route.useSearch();
  const check = useQuery({
    queryKey: ['set-up', token],
    queryFn: () => api.post<null>('/set-up/check', { token: token || '-' }).then(() => true),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  if (check.isPending) return <Loading />;
  // Whatever else went wrong may be over when the form is sent.
  return isOver(check.error) ? <SetUpOver /> : <SetUpForm token={token} />;
};

const isOver = (error: Error | null): boolean =>
  error instanceof ApiError && error.body?.code === 'SETUP_LINK_INVALID';

const SetUpOver = () => (
  <SignedOutFrame
    tab={TAB}
    title="This link was used already"
    intro="The shop is set up: sign in with the e-mail and the password that were chosen then. If nobody has done it, look for the link that the service printed at its latest start."
  >
    <ButtonLink to="/sign-in">To the sign-in</ButtonLink>
  </SignedOutFrame>
);

const SetUpForm = ({ token }: { token: string }) => {
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
      void navigate({ to: '/', replace: true });
    },
  });
  if (isOver(failure)) return <SetUpOver />;
  return (
    <SignedOutFrame
      tab={TAB}
      title="Welcome to Handback"
      intro="Make your shop and the account of its Admin. More people and API clients are added afterwards."
    >
      <form onSubmit={submit} noValidate>
        <Stack>
          <FormFailure failure={failure} />
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
    </SignedOutFrame>
  );
};
