import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Proof } from '../../../contract/admin-access.ts';
import { api } from '../api.ts';
import { texts } from '../texts.ts';
import { useApiForm } from '../ui/forms/api-form.ts';
import { ConfirmDialog, FormDialog } from '../ui/forms/form-dialog.tsx';
import { TextButton } from '../ui/links.tsx';
import { FormFailure } from '../ui/query-view.tsx';
import {
  CodeInput,
  CurrentPasswordInput,
  type ProofBy,
  ProofInput,
  UsernameInput,
  useSignIn,
} from './credentials.tsx';
import { ProviderButton, useProviderDone, useProviderName, visitInNewWindow } from './provider.tsx';
import { type Session, signInOptionsQuery, useLeave, useSession, useSignedIn } from './session.ts';

const t = texts.session;

/** Above every other dialog, which stays as it is. */
const ABOVE_ALL = 1000;
/** Escape closes no dialog below this one. */
const KEEPS_ESCAPE = { 'data-mantine-stop-propagation': true } as const;

export const SignInAgain = ({ email, onDone }: { email: string; onDone: () => void }) => {
  const queryClient = useQueryClient();
  const leave = useLeave();
  const { data: options } = useQuery(signInOptionsQuery);
  const signedIn = useSignedIn();
  const goOn = () => {
    onDone();
    void queryClient.invalidateQueries();
  };
  const { form, asksCode, onSubmit, busy, failure } = useSignIn(email, goOn);
  useProviderDone(async () => {
    const session = await api.get<Session>('/session');
    // Another person may have signed in there: nothing of this one stays.
    if (session.user.email !== email) return void leave();
    signedIn(session);
    goOn();
  });
  return (
    <Modal
      opened
      onClose={() => {}}
      title={asksCode ? t.twoStep : t.sessionEnded}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      zIndex={ABOVE_ALL}
      {...KEEPS_ESCAPE}
    >
      <form onSubmit={onSubmit}>
        <Stack>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {t.sessionEndedIntro(email)}
          </Text>
          <FormFailure failure={failure} />
          {options?.provider && !asksCode ? <ProviderButton newWindow /> : null}
          <UsernameInput email={email} />
          {options?.passwords === false ? null : asksCode ? (
            <CodeInput autoFocus {...KEEPS_ESCAPE} {...form.getInputProps('code')} />
          ) : (
            <CurrentPasswordInput data-autofocus {...KEEPS_ESCAPE} {...form.getInputProps('password')} />
          )}
          <Group justify="space-between">
            <TextButton onClick={leave}>{t.otherAccount}</TextButton>
            {options?.passwords === false ? null : (
              <Button type="submit" loading={busy}>
                {t.signIn}
              </Button>
            )}
          </Group>
        </Stack>
      </form>
    </Modal>
  );
};

/** Above other dialogs, which stay as they are, and below the one to sign in again. */
const ABOVE_DIALOGS = 900;

interface ProofProps {
  onDone: (proved: boolean) => void;
}

export const ProofDialog = (props: ProofProps) =>
  useSession().user.throughProvider ? <ProviderProof {...props} /> : <OwnProof {...props} />;

/** A person who came through the identity provider goes there again. */
const ProviderProof = ({ onDone }: ProofProps) => {
  const name = useProviderName();
  useProviderDone(() => onDone(true));
  return (
    <ConfirmDialog
      title={t.proofTitle}
      action={t.confirmWith(name)}
      size="md"
      zIndex={ABOVE_DIALOGS}
      send={() => visitInNewWindow('/session/oidc/proof')}
      onDone={() => {}}
      onClose={() => onDone(false)}
    >
      <Text size="sm">{t.proofAtProvider(name)}</Text>
    </ConfirmDialog>
  );
};

const OwnProof = ({ onDone }: ProofProps) => {
  const { form, clearFailure, ...dialog } = useApiForm({
    schema: Proof,
    initialValues: { by: 'password' as ProofBy, password: '', code: '' },
    bodyOf: ({ by, password, code }) => (by === 'password' ? { password } : { code: code || null }),
    send: (body) => api.post<null>('/session/proof', body),
    onDone: () => onDone(true),
  });
  return (
    <FormDialog
      {...dialog}
      title={t.proofTitle}
      action={t.confirm}
      size="md"
      zIndex={ABOVE_DIALOGS}
      onClose={() => onDone(false)}
    >
      <Text size="sm">{t.proofIntro}</Text>
      <ProofInput form={form} password="password" focused onSwitch={clearFailure} />
    </FormDialog>
  );
};
