import { Button, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { AskForLink, type LinkTarget, UseLink } from '../../../contract/admin-access.ts';
import { ApiError, api } from '../api.ts';
import { useApiForm } from '../ui/forms/api-form.ts';
import { ButtonLink, TextLink } from '../ui/links.tsx';
import { Loading } from '../ui/page-frame.tsx';
import { FormFailure } from '../ui/query-view.tsx';
import { Hint } from '../ui/two-lines.tsx';
import { CodeInput, EmailInput, UsernameInput } from './credentials.tsx';
import { NewPasswordInput } from './new-password-input.tsx';
import { type Session, signInOptionsQuery, useSignedIn } from './session.ts';
import { SignedOutFrame, useHashToken } from './signed-out-frame.tsx';

const TAB = 'Choose a password';
const LINK = 'link';

/** Where an invitation or a link for a forgotten password leads. Its token is behind the `#`, which browsers keep to themselves. */
export const LinkPage = (): ReactNode => {
  const token = useHashToken();
  const target = useQuery({
    queryKey: [LINK, token],
    queryFn: () => api.post<LinkTarget>('/links/check', { token: token || '-' }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  if (target.data) return <ChoosePassword token={token} target={target.data} />;
  if (!target.error) return <Loading />;
  return isOver(target.error) ? <LinkOver /> : <CheckFailed error={target.error} onRetry={target.refetch} />;
};

const isOver = (error: Error): boolean => error instanceof ApiError && error.body?.code === 'LINK_EXPIRED';

const LinkOver = () => (
  <SignedOutFrame
    tab={TAB}
    title="This link does not work any more"
    intro="It was used already, its time is over, or a newer one took its place. If you have chosen a password, sign in with it. Otherwise ask an Admin of your shop for a new link."
  >
    <ButtonLink to="/sign-in">To the sign-in</ButtonLink>
  </SignedOutFrame>
);

const CheckFailed = ({ error, onRetry }: { error: Error; onRetry: () => void }) => (
  <SignedOutFrame tab={TAB} title="The link could not be checked">
    <FormFailure failure={error} />
    <Button onClick={() => onRetry()}>Try again</Button>
  </SignedOutFrame>
);

const ChoosePassword = ({ token, target }: { token: string; target: LinkTarget }) => {
  const { shop, user, secondFactor } = target;
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const signedIn = useSignedIn();
  const { form, onSubmit, busy, failure } = useApiForm({
    schema: UseLink,
    initialValues: { token, password: '', code: '' },
    codes: { SECOND_FACTOR_WRONG: 'code', SECOND_FACTOR_REQUIRED: 'code' },
    send: (body) => api.post<Session>('/links/use', body),
    onDone: async (session) => {
      // Everything of the person before, except the link: it would be checked again, and is used up.
      queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== LINK });
      signedIn(session);
      await navigate({ to: '/', replace: true });
    },
  });
  if (failure && isOver(failure)) return <LinkOver />;
  return (
    <SignedOutFrame
      tab={TAB}
      title={user.name ? `Welcome, ${user.name}` : 'Choose a password'}
      intro={`Choose the password with which you sign in to ${shop.name} as ${user.email}.`}
    >
      <form onSubmit={onSubmit} noValidate>
        <Stack>
          <FormFailure failure={failure} />
          <UsernameInput email={user.email} />
          <NewPasswordInput label="Password" autoFocus {...form.getInputProps('password')} />
          {secondFactor ? <CodeInput {...form.getInputProps('code')} /> : null}
          <Button type="submit" loading={busy}>
            Save and sign in
          </Button>
        </Stack>
      </form>
    </SignedOutFrame>
  );
};

export const ForgotPasswordPage = () => {
  const { data } = useQuery(signInOptionsQuery);
  return data?.passwordLinks === false ? <NoMails /> : <AskByMail />;
};

/** People come here by a bookmark also where no mails are sent. */
const NoMails = () => (
  <SignedOutFrame
    tab="Forgot your password"
    title="Forgot your password?"
    intro="Ask an Admin of your shop for a link with which you choose a new one."
  >
    <ButtonLink to="/sign-in" variant="default">
      Back to the sign-in
    </ButtonLink>
  </SignedOutFrame>
);

const AskByMail = () => {
  const [asked, setAsked] = useState<string | null>(null);
  const { form, onSubmit, busy, failure } = useApiForm({
    schema: AskForLink,
    initialValues: { email: '' },
    send: (body) => api.post('/password-links', body),
    onDone: (_answer, { email }) => setAsked(email),
  });
  if (asked)
    return (
      <SignedOutFrame tab="Forgot your password" title="Look into your mailbox">
        <Text role="status">
          If {asked} has an account here, a link is on its way to it. It works once, for an hour.
        </Text>
        <Hint>Nothing came? Look into the spam folder, or ask an Admin of your shop for a link.</Hint>
        <ButtonLink to="/sign-in" variant="default">
          Back to the sign-in
        </ButtonLink>
      </SignedOutFrame>
    );
  return (
    <SignedOutFrame
      tab="Forgot your password"
      title="Forgot your password?"
      intro="We send you a link with which you choose a new one."
    >
      <form onSubmit={onSubmit} noValidate>
        <Stack>
          <FormFailure failure={failure} />
          <EmailInput autoComplete="username" autoFocus {...form.getInputProps('email')} />
          <Button type="submit" loading={busy}>
            Send the link
          </Button>
          <TextLink to="/sign-in" size="sm" ta="center">
            Back to the sign-in
          </TextLink>
        </Stack>
      </form>
    </SignedOutFrame>
  );
};
