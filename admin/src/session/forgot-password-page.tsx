import { Button, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { AskForLink } from '../../../contract/admin-access.ts';
import { api } from '../api.ts';
import { useApiForm } from '../ui/forms/api-form.ts';
import { ButtonLink, TextLink } from '../ui/links.tsx';
import { FormFailure } from '../ui/query-view.tsx';
import { Hint } from '../ui/two-lines.tsx';
import { EmailInput } from './credentials.tsx';
import { signInOptionsQuery } from './session.ts';
import { SignedOutFrame } from './signed-out-frame.tsx';

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
