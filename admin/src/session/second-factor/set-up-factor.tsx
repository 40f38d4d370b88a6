import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import {
  ConfirmSecondFactor,
  type NewSecondFactor,
  type RecoveryCodes,
} from '../../../../contract/admin-access.ts';
import { api } from '../../api.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { useApiForm } from '../../ui/forms/api-form.ts';
import { QrCode } from '../../ui/qr-code.tsx';
import { FormFailure } from '../form-failure.tsx';
import { useFactorChanged } from './factor-api.ts';
import { RecoveryCodeList } from './recovery-codes.tsx';

interface Props {
  /** The label of the button that begins. */
  action: string;
  onBegun?: () => void;
  onDone: () => void;
}

/** From nothing to a second factor: begin, scan and confirm, store the recovery codes. */
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
  const { form, submit, busy, failure } = useApiForm({
    schema: ConfirmSecondFactor,
    initialValues: { code: '' },
    send: (body) => api.post<RecoveryCodes>('/session/second-factor/confirm', body),
    onDone: ({ recoveryCodes }) => {
      onConfirmed(recoveryCodes);
      changed(true);
    },
  });
  return (
    <form onSubmit={submit} noValidate>
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

/** For whoever cannot scan: in groups of four, as apps show it. */
const TypedSecret = ({ secret }: { secret: string }) => (
  <Stack gap={4} maw={200}>
    <Text size="sm" c="dimmed">
      You cannot scan it? Type this key into the app:
    </Text>
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <Text component="code" size="sm" ff="monospace" aria-label="Key for the authenticator app">
        {secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}
      </Text>
      <CopyButton text={secret} what="the key" size="md" />
    </Group>
  </Stack>
);
