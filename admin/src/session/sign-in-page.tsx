import { Button, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { texts } from '../texts.ts';
import { TextButton, TextLink } from '../ui/links.tsx';
import { FormFailure } from '../ui/query-view.tsx';
import { CodeInput, CurrentPasswordInput, EmailInput, useSignIn } from './credentials.tsx';
import { BackFromProvider, ProviderButton, ProviderRefused } from './provider.tsx';
import { addressOf, type arrivalSearch, signInOptionsQuery } from './session.ts';
import { SignedOutFrame } from './signed-out-frame.tsx';

const t = texts.session;
const route = getRouteApi('/sign-in');

export const SignInPage = (): ReactNode => {
  const arrival = route.useSearch();
  const isBack = arrival.window === 'new' || arrival.provider === 'signed-in';
  return isBack ? <BackFromProvider {...arrival} /> : <SignInForm {...arrival} />;
};

const SignInForm = ({ to, provider: outcome }: ReturnType<typeof arrivalSearch>) => {
  const { data: options } = useQuery(signInOptionsQuery);
  const router = useRouter();
  const { form, asksCode, onSubmit, busy, failure, startOver } = useSignIn('', () =>
    router.history.replace(addressOf(to)),
  );
  return (
    <SignedOutFrame
      tab={asksCode ? t.twoStep : t.signIn}
      title={asksCode ? t.twoStep : t.signInTitle}
      {...(asksCode ? { intro: t.signingInAs(form.values.email) } : {})}
    >
      {asksCode ? null : <ProviderRefused outcome={outcome} />}
      {options?.provider && !asksCode ? <ProviderButton to={to} /> : null}
      <form onSubmit={onSubmit} hidden={options?.passwords === false}>
        <Stack>
          <FormFailure failure={failure} />
          {asksCode ? (
            <CodeInput autoFocus withAsterisk={false} {...form.getInputProps('code')} />
          ) : (
            <>
              <EmailInput
                autoComplete="username"
                autoFocus
                withAsterisk={false}
                {...form.getInputProps('email')}
              />
              <CurrentPasswordInput withAsterisk={false} {...form.getInputProps('password')} />
            </>
          )}
          <Button type="submit" loading={busy}>
            {t.signIn}
          </Button>
          {asksCode ? (
            <TextButton ta="center" onClick={startOver}>
              {t.otherAccount}
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
        {t.forgot}
      </TextLink>
    );
  return (
    <Text size="sm" c="dimmed" ta="center" mih="2lh">
      {data ? t.forgot : ''}
      <br />
      {data ? t.askAdmin : ''}
    </Text>
  );
};
