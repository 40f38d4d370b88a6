import { Alert, Button, Checkbox, Group, Stack, Text, TextInput } from '@mantine/core';
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { Download, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import {
  ConfirmSecondFactor,
  type NewSecondFactor,
  type RecoveryCodes,
  type SecondFactor,
} from '../../../../contract/admin-access.ts';
import { api } from '../../api.ts';
import { CopyButton } from '../../ui/copy-fields.tsx';
import { useApiForm } from '../../ui/forms/api-form.ts';
import { FormFailure } from '../../ui/query-view.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { QrCode } from '../../ui/slip/codes.tsx';
import { Hint } from '../../ui/two-lines.tsx';
import { ownSessionsQuery, type Session, sessionQuery } from '../session.ts';
import styles from './recovery-codes.module.css';

export const factorQuery = queryOptions({
  queryKey: ['second-factor'],
  queryFn: () => api.get<SecondFactor>('/session/second-factor'),
});

export const useFactorChanged = () => {
  const queryClient = useQueryClient();
  return (secondFactor: boolean): void => {
    queryClient.setQueryData(sessionQuery.queryKey, (session: Session | null | undefined) =>
      session ? { ...session, user: { ...session.user, secondFactor } } : session,
    );
    void queryClient.invalidateQueries({ queryKey: factorQuery.queryKey });
    void queryClient.invalidateQueries(ownSessionsQuery);
  };
};

interface Props {
  action: string;
  onBegun?: () => void;
  onDone: () => void;
}

export const SetUpFactor = ({ action, onBegun, onDone }: Props) => {
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const begin = useMutation({
    mutationFn: () => api.post<NewSecondFactor>('/session/second-factor'),
    onSuccess: () => onBegun?.(),
  });
  if (codes) return <RecoveryCodeList codes={codes} onDone={onDone} />;
  if (begin.data) return <ScanAndConfirm factor={begin.data} onConfirmed={setCodes} />;
  return (
    <Stack>
      <FormFailure failure={begin.error} />
      <div>
        <Button onClick={() => begin.mutate()} loading={begin.isPending}>
          {action}
        </Button>
      </div>
    </Stack>
  );
};

interface ScanProps {
  factor: NewSecondFactor;
  onConfirmed: (codes: string[]) => void;
}

const ScanAndConfirm = ({ factor, onConfirmed }: ScanProps) => {
  const changed = useFactorChanged();
  const { form, onSubmit, busy, failure } = useApiForm({
    schema: ConfirmSecondFactor,
    initialValues: { code: '' },
    send: (body) => api.post<RecoveryCodes>('/session/second-factor/confirm', body),
    onDone: ({ recoveryCodes }) => {
      onConfirmed(recoveryCodes);
      changed(true);
    },
  });
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack>
        <FormFailure failure={failure} />
        <Text size="sm">
          <strong>1.</strong> Scan this with an authenticator app on your phone, such as Google Authenticator,
          Microsoft Authenticator or 1Password.
        </Text>
        <Group align="center" gap="lg">
          <QrCode text={factor.uri} label="QR code for the authenticator app" width={192} />
          <TypedSecret secret={factor.secret} />
        </Group>
        <TextInput
          label={
            <>
              <strong>2.</strong> The code that the app shows now
            </>
          }
          description="Six digits. They change every 30 seconds."
          inputMode="numeric"
          autoComplete="one-time-code"
          autoFocus
          placeholder="123 456"
          styles={{
            wrapper: { maxWidth: 240 },
            input: { fontFamily: 'var(--mantine-font-family-monospace)' },
          }}
          {...form.getInputProps('code')}
        />
        <div>
          <Button type="submit" loading={busy}>
            Turn it on
          </Button>
        </div>
      </Stack>
    </form>
  );
};

/** For people who cannot scan: in groups of four, as apps show it. */
const TypedSecret = ({ secret }: { secret: string }) => (
  <Stack gap={4} maw={200}>
    <Hint>You cannot scan it? Type this key into the app:</Hint>
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <Text component="code" size="sm" ff="monospace" aria-label="Key for the authenticator app">
        {secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}
      </Text>
      <CopyButton text={secret} what="the key" size="md" />
    </Group>
  </Stack>
);

const download = (codes: readonly string[]): void => {
  const text = `Handback recovery codes. Each works once.\n\n${codes.join('\n')}\n`;
  saveFile('handback-recovery-codes.txt', text, 'text/plain');
};

export const RecoveryCodeList = ({ codes, onDone }: { codes: readonly string[]; onDone: () => void }) => {
  const [stored, setStored] = useState(false);
  return (
    <Stack>
      <Alert
        color="yellow"
        title="Store these codes now: they are shown this once"
        icon={<TriangleAlert aria-hidden />}
      >
        With one of them you get in when your phone is lost. Each works once. Print them or keep them in a
        password manager, not on the same phone.
      </Alert>
      <ul className={styles['codes']} aria-label="Recovery codes">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <Group gap="xs">
        <CopyButton text={codes.join('\n')} what="the recovery codes" />
        <Button
          variant="default"
          leftSection={<Download size={16} aria-hidden />}
          onClick={() => download(codes)}
        >
          Save as a file
        </Button>
      </Group>
      <Checkbox
        label="I have stored the codes in a safe place"
        checked={stored}
        onChange={(event) => setStored(event.currentTarget.checked)}
      />
      <div>
        <Button disabled={!stored} onClick={onDone}>
          Done
        </Button>
      </div>
    </Stack>
  );
};
