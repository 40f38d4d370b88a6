import { Box, Button, Code, Stack, TextInput } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { SetUp } from '../../../contract/admin-set-up.ts';
import { ApiError, api } from '../api.ts';
import { texts } from '../texts.ts';
import { useApiForm } from '../ui/forms/api-form.ts';
import { lazyPart } from '../ui/lazy.tsx';
import { ButtonLink } from '../ui/links.tsx';
import { notify } from '../ui/notify.ts';
import { Loading } from '../ui/page-frame.tsx';
import { FormFailure } from '../ui/query-view.tsx';
import { Hint } from '../ui/two-lines.tsx';
import { EmailInput } from './credentials.tsx';
import { NewPasswordInput } from './new-password-input.tsx';
import { type Session, useSignedIn } from './session.ts';
import { SignedOutFrame, useHashToken } from './signed-out-frame.tsx';

const t = texts.session;

/** By itself: it is not needed to begin with, and the first load of the page is large enough. */
const RegionInputs = lazyPart(
  async () => (await import('./region-inputs.tsx')).RegionInputs,
  () => <Box h={55} />,
);

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
  if (code === 'SETUP_LINK_INVALID')
    return <SignedOutFrame tab={t.setUpTab} title={t.setUpLinkInvalid} intro={t.setUpLinkInvalidIntro} />;
  // Any other failure may have passed by the time the form is sent.
  return <SetUpForm token={token} />;
};

const COMMANDS = `npx --no handback shop list
npx --no handback user create --shop ID --email you@example.com --role ADMIN`;

const AlreadySetUp = () => (
  <SignedOutFrame tab={t.setUpTab} title={t.shopExists} intro={t.shopExistsIntro}>
    <ButtonLink to="/sign-in">{t.signIn}</ButtonLink>
    <Stack gap={6}>
      <Hint>{t.shopExistsOperator}</Hint>
      <Code block style={{ whiteSpace: 'pre-wrap' }}>
        {COMMANDS}
      </Code>
    </Stack>
  </SignedOutFrame>
);

const SetUpForm = ({ token }: { token: string }) => {
  const navigate = useNavigate();
  const signedIn = useSignedIn();
  const { form, onSubmit, busy, failure } = useApiForm({
    schema: SetUp,
    initialValues: { token, shopName: '', email: '', name: '', password: '', currency: '', timeZone: '' },
    bodyOf: ({ currency: _currency, timeZone: _timeZone, ...account }) => account,
    send: async (body) => {
      await api.post('/set-up', { ...body, token });
      return api.post<Session>('/session', { email: body.email, password: body.password });
    },
    onDone: async (session, { currency, timeZone }) => {
      // The shop is there without them, so a failure does not stop anything.
      await api
        .put('/shop-settings', { currency: currency || null, timeZone: timeZone || null })
        .catch(() => void notify({ color: 'orange', message: t.regionNotSaved }));
      signedIn(session);
      void navigate({ to: '/', replace: true });
    },
  });
  return (
    <SignedOutFrame tab={t.setUpTab} title={t.setUpTitle} intro={t.setUpIntro}>
      <form onSubmit={onSubmit} noValidate>
        <Stack>
          <FormFailure failure={failure} />
          <TextInput label={t.shopName} required autoFocus {...form.getInputProps('shopName')} />
          <RegionInputs inputProps={form.getInputProps} onSuggest={form.setValues} />
          <EmailInput label={t.yourEmail} autoComplete="username" {...form.getInputProps('email')} />
          <TextInput label={t.yourName} autoComplete="name" {...form.getInputProps('name')} />
          <NewPasswordInput label={t.password} required {...form.getInputProps('password')} />
          <Button type="submit" loading={busy}>
            {t.createShop}
          </Button>
        </Stack>
      </form>
    </SignedOutFrame>
  );
};
