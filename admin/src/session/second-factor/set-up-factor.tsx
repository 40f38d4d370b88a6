import { Alert, Anchor, Button, Checkbox, Group, Stack, Text, TextInput } from '@mantine/core';
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { Download, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import {
  type NewSecondFactor,
  type RecoveryCodes,
  type SecondFactor,
  SecondFactorCode,
} from '../../../../contract/admin-access.ts';
import { api } from '../../api.ts';
import { texts } from '../../texts.ts';
import { CopyButton } from '../../ui/copy-fields.tsx';
import { useApiForm } from '../../ui/forms/api-form.ts';
import { TextButton } from '../../ui/links.tsx';
import { FormFailure } from '../../ui/query-view.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { QrCode } from '../../ui/slip/codes.tsx';
import { Hint } from '../../ui/two-lines.tsx';
import {
  addressOf,
  ownSessionsQuery,
  type Session,
  sessionQuery,
  useSession,
  useSignOut,
} from '../session.ts';
import { SignedOutFrame } from '../signed-out-frame.tsx';
import styles from './recovery-codes.module.css';

const { account: t, session: words } = texts;

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
  variant?: 'default' | 'filled';
  onBegun?: () => void;
  onDone: () => void;
}

export const SetUpFactor = ({ action, variant = 'filled', onBegun, onDone }: Props) => {
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
        <Button variant={variant} onClick={() => begin.mutate()} loading={begin.isPending}>
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

/** It cannot scan what it shows itself: the link and the key come first there, and no keyboard opens over them. */
const PHONE = '(pointer: coarse), (max-width: 36em)';

const ScanAndConfirm = ({ factor, onConfirmed }: ScanProps) => {
  const changed = useFactorChanged();
  const isPhone = window.matchMedia(PHONE).matches;
  const { form, onSubmit, busy, failure } = useApiForm({
    schema: SecondFactorCode,
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
          <strong>1.</strong> {isPhone ? t.addStep : t.scanStep}
        </Text>
        <Group align="center" gap="lg">
          {isPhone ? <TypedSecret {...factor} /> : null}
          <QrCode text={factor.uri} label={t.qrCode} width={192} />
          {isPhone ? null : <TypedSecret {...factor} />}
        </Group>
        <TextInput
          label={
            <>
              <strong>2.</strong> {t.codeStep}
            </>
          }
          description={words.appCodeHint}
          inputMode="numeric"
          autoComplete="one-time-code"
          autoFocus={!isPhone}
          placeholder={words.appCodeExample}
          styles={{
            wrapper: { maxWidth: 240 },
            input: { fontFamily: 'var(--mantine-font-family-monospace)' },
          }}
          {...form.getInputProps('code')}
        />
        <div>
          <Button type="submit" loading={busy}>
            {t.turnOn}
          </Button>
        </div>
      </Stack>
    </form>
  );
};

/** For people who cannot scan: in groups of four, as apps show it. */
const TypedSecret = ({ secret, uri }: NewSecondFactor) => (
  <Stack gap={4}>
    <Anchor href={uri} size="sm">
      {t.openInApp}
    </Anchor>
    <Hint>{t.cannotScan}</Hint>
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <Text component="code" size="sm" ff="monospace" maw="21ch" aria-label={t.secretKey}>
        {secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}
      </Text>
      <CopyButton text={secret} what={t.theKey} size="md" />
    </Group>
  </Stack>
);

const download = (codes: readonly string[]): void => {
  saveFile(t.codesFile, `${t.codesFileIntro}\n\n${codes.join('\n')}\n`, 'text/plain');
};

export const RecoveryCodeList = ({ codes, onDone }: { codes: readonly string[]; onDone: () => void }) => {
  const [stored, setStored] = useState(false);
  return (
    <Stack>
      <Alert color="yellow" title={t.codesTitle} icon={<TriangleAlert size={24} />}>
        {t.codesIntro}
      </Alert>
      <ul className={styles['codes']} aria-label={t.codes}>
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <Group gap="xs">
        <CopyButton text={codes.join('\n')} what={t.theCodes} label={t.copyCodes} />
        <Button variant="default" leftSection={<Download />} onClick={() => download(codes)}>
          {t.saveCodes}
        </Button>
      </Group>
      <Checkbox
        label={t.codesStored}
        checked={stored}
        onChange={(event) => setStored(event.currentTarget.checked)}
      />
      <div>
        <Button disabled={!stored} onClick={onDone}>
          {t.done}
        </Button>
      </div>
    </Stack>
  );
};

const route = getRouteApi('/second-factor');

/** Where a shop requires two-step verification and the person has none. */
export const FactorPage = () => {
  const { shop } = useSession();
  const { to } = route.useSearch();
  const router = useRouter();
  const signOut = useSignOut();
  return (
    <SignedOutFrame tab={words.twoStep} title={t.twoStepSetUp} intro={t.twoStepRequiredIntro(shop.name)}>
      <SetUpFactor action={t.getStarted} onDone={() => router.history.replace(addressOf(to))} />
      <TextButton style={{ alignSelf: 'flex-start' }} onClick={() => signOut.mutate()}>
        {t.signOut}
      </TextButton>
    </SignedOutFrame>
  );
};
