import { Button, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { AskForLink, type LinkTarget, UseLink } from '../../../contract/admin-access.ts';
import { ApiError, api } from '../api.ts';
import { texts } from '../texts.ts';
import { useApiForm } from '../ui/forms/api-form.ts';
import { ButtonLink, TextLink } from '../ui/links.tsx';
import { Loading } from '../ui/page-frame.tsx';
import { FormFailure } from '../ui/query-view.tsx';
import { Hint } from '../ui/two-lines.tsx';
import { CodeInput, EmailInput, UsernameInput } from './credentials.tsx';
import { NewPasswordInput } from './new-password-input.tsx';
import { type Session, signInOptionsQuery, useSignedIn } from './session.ts';
import { SignedOutFrame, useHashToken } from './signed-out-frame.tsx';

const t = texts.session;
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
  <SignedOutFrame tab={t.linkTab} title={t.linkOver} intro={t.linkOverIntro}>
    <ButtonLink to="/sign-in">{t.backToSignIn}</ButtonLink>
  </SignedOutFrame>
);

const CheckFailed = ({ error, onRetry }: { error: Error; onRetry: () => void }) => (
  <SignedOutFrame tab={t.linkTab} title={t.linkNotChecked}>
    <FormFailure failure={error} />
    <Button onClick={() => onRetry()}>{t.tryAgain}</Button>
  </SignedOutFrame>
);

const ChoosePassword = ({ token, target }: { token: string; target: LinkTarget }) => {
  const { shop, user, secondFactor } = target;
  const hasPasswords = useQuery(signInOptionsQuery).data?.passwords !== false;
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const signedIn = useSignedIn();
  const { form, onSubmit, busy, failure } = useApiForm({
    schema: UseLink,
    initialValues: { token, password: '', code: '' },
    codes: { SECOND_FACTOR_WRONG: 'code', SECOND_FACTOR_REQUIRED: 'code' },
    bodyOf: ({ password, ...given }) => ({ ...given, password: hasPasswords ? password : null }),
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
      tab={t.linkTab}
      title={user.name ? t.welcome(user.name) : hasPasswords ? t.choosePassword : t.signInTitle}
      intro={hasPasswords ? t.choosePasswordIntro(shop.name, user.email) : t.signingInAs(user.email)}
    >
      <form onSubmit={onSubmit} noValidate>
        <Stack>
          <FormFailure failure={failure} />
          <UsernameInput email={user.email} />
          {hasPasswords ? (
            <NewPasswordInput label={t.password} autoFocus {...form.getInputProps('password')} />
          ) : null}
          {secondFactor ? <CodeInput {...form.getInputProps('code')} /> : null}
          <Button type="submit" loading={busy}>
            {hasPasswords ? t.saveAndSignIn : t.signIn}
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
  <SignedOutFrame tab={t.forgotTab} title={t.forgot} intro={t.askAdminForNew}>
    <ButtonLink to="/sign-in" variant="default">
      {t.backToSignIn}
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
      <SignedOutFrame tab={t.forgotTab} title={t.checkEmail}>
        <Text role="status">{t.linkSent(asked)}</Text>
        <Hint>{t.nothingCame}</Hint>
        <ButtonLink to="/sign-in" variant="default">
          {t.backToSignIn}
        </ButtonLink>
      </SignedOutFrame>
    );
  return (
    <SignedOutFrame tab={t.forgotTab} title={t.forgot} intro={t.forgotIntro}>
      <form onSubmit={onSubmit} noValidate>
        <Stack>
          <FormFailure failure={failure} />
          <EmailInput autoComplete="username" autoFocus {...form.getInputProps('email')} />
          <Button type="submit" loading={busy}>
            {t.sendLink}
          </Button>
          <TextLink to="/sign-in" size="sm" ta="center">
            {t.backToSignIn}
          </TextLink>
        </Stack>
      </form>
    </SignedOutFrame>
  );
};
