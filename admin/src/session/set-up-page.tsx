import { Button, Stack, TextInput } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { SetUp } from '../../../contract/admin-set-up.ts';
import { ApiError, api } from '../api.ts';
import { useApiForm } from '../ui/forms/api-form.ts';
import { ButtonLink } from '../ui/links.tsx';
import { Loading } from '../ui/page-frame.tsx';
import { FormFailure } from '../ui/query-view.tsx';
import { EmailInput } from './credentials.tsx';
import { NewPasswordInput } from './new-password-input.tsx';
import { type Session, useSignedIn } from './session.ts';
import { SignedOutFrame, useHashToken } from './signed-out-frame.tsx';

const TAB = 'Set up';

export const SetUpPage = (): ReactNode => {
  const token = useHashToken();
  const check = useQuery({
    queryKey: ['set-up', token],
    queryFn: () => api.post<null>('/set-up/check', { token: token || '-' }).then(() => true),
    // A newer link in the same tab keeps what was typed.
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  if (check.isPending) return <Loading />;
  const code = check.error instanceof ApiError ? check.error.body?.code : undefined;
  if (code === 'ALREADY_SET_UP') return <AlreadySetUp />;
  if (code === 'SETUP_LINK_INVALID') return <LinkInvalid />;
  // Any other failure may have passed by the time the form is sent.
  return <SetUpForm token={token} />;
};

const AlreadySetUp = () => (
  <SignedOutFrame
    tab={TAB}
    title="There is a shop here already"
    intro="Sign in with an account of it. If you have none, an Admin of the shop can invite you, or the operator adds you on the server: npx handback shop list shows the shop’s id, npx handback user create --shop ID --email you@example.com --role ADMIN makes an account."
  >
    <ButtonLink to="/sign-in">Sign in</ButtonLink>
  </SignedOutFrame>
);

const LinkInvalid = () => (
  <SignedOutFrame
    tab={TAB}
    title="This link is not valid"
    intro="A set-up link is good for one hour, and until the service starts again. Use the link that the latest start printed, or restart the service: it prints a new one."
  />
);

const SetUpForm = ({ token }: { token: string }) => {
  const navigate = useNavigate();
  const signedIn = useSignedIn();
  const { form, onSubmit, busy, failure } = useApiForm({
    schema: SetUp,
    initialValues: { token, shopName: '', email: '', name: '', password: '' },
    send: async (body) => {
      await api.post('/set-up', { ...body, token });
      return api.post<Session>('/session', { email: body.email, password: body.password });
    },
    onDone: (session) => {
      signedIn(session);
      void navigate({ to: '/', replace: true });
    },
  });
  return (
    <SignedOutFrame
      tab={TAB}
      title="Welcome to Handback"
      intro="Make your shop and the account of its Admin. More people and API clients are added afterwards."
    >
      <form onSubmit={onSubmit} noValidate>
        <Stack>
          <FormFailure failure={failure} />
          <TextInput label="Name of the shop" required autoFocus {...form.getInputProps('shopName')} />
          <EmailInput label="Your e-mail" autoComplete="username" {...form.getInputProps('email')} />
          <TextInput label="Your name" autoComplete="name" {...form.getInputProps('name')} />
          <NewPasswordInput label="Password" required {...form.getInputProps('password')} />
          <Button type="submit" loading={busy}>
            Make the shop
          </Button>
        </Stack>
      </form>
    </SignedOutFrame>
  );
};
