import { Anchor, Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../api.ts';
import { FormFailure } from '../ui/error-alert.tsx';
import { TextLink } from '../ui/links.tsx';
import { CodeInput, isCodeMissing } from './inputs.tsx';
import { addressOf, rememberSignIn, type Session, sessionQuery, signInOptionsQuery } from './session.ts';
import { SignedOutFrame } from './signed-out-frame.tsx';

const route = getRouteApi('/sign-in');

/** First the password, and for those who have one a code of their second factor. */
const useSignIn = () => {
  const { to } = route.useSearch();
  const router = useRouter();
  const queryClient = useQueryClient();
  const [step, setStep] = useState<'password' | 'code'>('password');
  const form = useForm({ initialValues: { email: '', password: '', code: '' } });
  const signIn = useMutation({
    mutationFn: ({ code, ...values }: typeof form.values) =>
      api.post<Session>('/session', step === 'code' ? { ...values, code } : values),
    onSuccess: (session) => {
      rememberSignIn(true);
      queryClient.setQueryData(sessionQuery.queryKey, session);
      router.history.push(addressOf(to));
    },
    onError: (error) => {
      if (isCodeMissing(error)) setStep('code');
      else form.setFieldValue('code', '');
    },
  });
  const goBack = () => {
    setStep('password');
    signIn.reset();
    form.setValues({ code: '', password: '' });
  };
  return { step, form, signIn, goBack };
};

export const SignInPage = () => {
  const { step, form, signIn, goBack } = useSignIn();
  return (
    <SignedOutFrame
      tab="Sign in"
      title={step === 'code' ? 'One more step' : 'Sign in to Handback'}
      {...(step === 'code' ? { intro: `Signing in as ${form.values.email}` } : {})}
    >
      <form onSubmit={form.onSubmit((values) => signIn.mutate(values))}>
        <Stack>
          <FormFailure failure={isCodeMissing(signIn.error) ? null : signIn.error} />
          {step === 'code' ? (
            <CodeInput
              autoFocus
              {...form.getInputProps('code')}
              onClear={() => form.setFieldValue('code', '')}
            />
          ) : (
            <>
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
            </>
          )}
          <Button type="submit" loading={signIn.isPending}>
            Sign in
          </Button>
          {step === 'code' ? (
            <Anchor component="button" type="button" size="sm" ta="center" onClick={goBack}>
              Sign in as somebody else
            </Anchor>
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
