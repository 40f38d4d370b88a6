import { Button, PasswordInput, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { TextButton, TextLink } from '../ui/links.tsx';
import { FormFailure } from '../ui/query-view.tsx';
import { CodeInput, EmailInput, useSignIn } from './credentials.tsx';
import { addressOf, signInOptionsQuery } from './session.ts';
import { SignedOutFrame } from './signed-out-frame.tsx';

const route = getRouteApi('/sign-in');

export const SignInPage = () => {
  const { to } = route.useSearch();
  const router = useRouter();
  const { form, asksCode, onSubmit, busy, failure, startOver } = useSignIn('', () =>
    router.history.push(addressOf(to)),
  );
  return (
    <SignedOutFrame
      tab="Sign in"
      title={asksCode ? 'One more step' : 'Sign in to Handback'}
      {...(asksCode ? { intro: `Signing in as ${form.values.email}` } : {})}
    >
      <form onSubmit={onSubmit}>
        <Stack>
          <FormFailure failure={failure} />
          {asksCode ? (
            <CodeInput autoFocus {...form.getInputProps('code')} />
          ) : (
            <>
              <EmailInput autoComplete="username" autoFocus {...form.getInputProps('email')} />
              <PasswordInput
                label="Password"
                autoComplete="current-password"
                required
                {...form.getInputProps('password')}
              />
            </>
          )}
          <Button type="submit" loading={busy}>
            Sign in
          </Button>
          {asksCode ? (
            <TextButton ta="center" onClick={startOver}>
              Sign in as someone else
            </TextButton>
          ) : (
            <Forgotten />
          )}
        </Stack>
      </form>
    </SignedOutFrame>
  );
};

/** What to do about a forgotten password, once it is known whether mails are sent. */
const Forgotten = () => {
  const { data } = useQuery(signInOptionsQuery);
  if (data?.passwordLinks)
    return (
      <TextLink to="/forgot-password" size="sm" ta="center">
        Forgot your password?
      </TextLink>
    );
  return (
    <Text size="sm" c="dimmed" ta="center">
      {data ? 'Forgot your password? Ask an Admin of your shop for a link.' : '\u00a0'}
    </Text>
  );
};
