import { Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import {
  type RecoveryCodes,
  type SecondFactor,
  SecondFactorCode,
} from '../../../../contract/admin-access.ts';
import { api } from '../../api.ts';
import { texts } from '../../texts.ts';
import { Dot } from '../../ui/dot.tsx';
import { useApiForm } from '../../ui/forms/api-form.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { notifyDone } from '../../ui/notify.ts';
import { Section } from '../../ui/page-frame.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { CodeInput } from '../credentials.tsx';
import { useSession } from '../session.ts';
import { factorQuery, RecoveryCodeList, SetUpFactor, useFactorChanged } from './set-up-factor.tsx';

const { account: t, session: words } = texts;

export const FactorCard = () => {
  const factor = useQuery(factorQuery);
  // While it is set up, or its codes are shown, a fresh answer must not replace what is on the screen.
  const [settingUp, setSettingUp] = useState(false);
  return (
    <Section
      title={words.twoStep}
      maw={720}
      aside={
        factor.data ? (
          <Dot
            label={factor.data.isOn ? t.twoStepOn : t.twoStepOff}
            color={factor.data.isOn ? 'teal' : 'gray'}
            isOver={!factor.data.isOn}
          />
        ) : null
      }
    >
      <QueryView query={factor}>
        {(data) =>
          data.isOn && !settingUp ? (
            <FactorOn factor={data} />
          ) : (
            <Stack>
              <Text c="dimmed" size="sm" maw="60ch">
                {t.twoStepOffIntro}
              </Text>
              <SetUpFactor
                action={t.twoStepSetUp}
                variant="default"
                onBegun={() => setSettingUp(true)}
                onDone={() => setSettingUp(false)}
              />
            </Stack>
          )
        }
      </QueryView>
    </Section>
  );
};

const LOW = 3;

const CodesLeft = ({ left }: { left: number }) => (
  <Text size="sm">
    <Text span inherit {...(left <= LOW ? { c: 'var(--mantine-color-error)', fw: 500 } : {})}>
      {t.codesLeft(left)}
    </Text>
    {left <= LOW ? ` ${t.codesLow}` : ''}
  </Text>
);

const FactorOn = ({ factor }: { factor: SecondFactor }) => {
  const [dialog, setDialog] = useState<'codes' | 'off' | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const changed = useFactorChanged();
  const close = () => setDialog(null);
  if (codes) return <RecoveryCodeList codes={codes} onDone={() => setCodes(null)} />;
  return (
    <Stack>
      <Text size="sm" maw="60ch">
        {t.twoStepOnIntro}
      </Text>
      <CodesLeft left={factor.recoveryCodesLeft} />
      <Group gap="xs">
        <Button variant="default" onClick={() => setDialog('codes')}>
          {t.newCodes}
        </Button>
        <Button variant="default" onClick={() => setDialog('off')}>
          {t.turnOff}
        </Button>
      </Group>
      {dialog === 'codes' ? (
        <NewCodesDialog
          onDone={(created) => {
            setCodes(created);
            changed(true);
            close();
          }}
          onClose={close}
        />
      ) : null}
      {dialog === 'off' ? <TurnOffDialog onClose={close} /> : null}
    </Stack>
  );
};

interface CodeDialogProps<Result> {
  title: string;
  action: string;
  dangerous?: boolean;
  path: string;
  onDone: (result: Result) => void;
  onClose: () => void;
  children: ReactNode;
}

/** Both changes take a code: whoever has the password alone must not get past the second factor. */
const CodeDialog = <Result,>({ path, onDone, children, ...props }: CodeDialogProps<Result>) => {
  const {
    form,
    clearFailure: _,
    ...dialog
  } = useApiForm({
    schema: SecondFactorCode,
    initialValues: { code: '' },
    send: (body) => api.post<Result>(path, body),
    onDone,
  });
  return (
    <FormDialog size="md" {...props} {...dialog}>
      <Text>{children}</Text>
      <CodeInput autoFocus data-autofocus {...form.getInputProps('code')} />
    </FormDialog>
  );
};

const NewCodesDialog = ({ onDone, onClose }: { onDone: (codes: string[]) => void; onClose: () => void }) => (
  <CodeDialog<RecoveryCodes>
    title={t.newCodes}
    action={t.newCodesAction}
    path="/session/second-factor/recovery-codes"
    onDone={({ recoveryCodes }) => onDone(recoveryCodes)}
    onClose={onClose}
  >
    {t.newCodesIntro}
  </CodeDialog>
);

const TurnOffDialog = ({ onClose }: { onClose: () => void }) => {
  const changed = useFactorChanged();
  const { shop } = useSession();
  const navigate = useNavigate();
  return (
    <CodeDialog
      title={t.turnOffTitle}
      action={t.turnOff}
      dangerous
      path="/session/second-factor/turn-off"
      onDone={() => {
        onClose();
        notifyDone(t.turnedOff);
        changed(false);
        if (shop.secondFactorRequired) void navigate({ to: '/second-factor', search: { to: '/account' } });
      }}
      onClose={onClose}
    >
      {shop.secondFactorRequired ? t.turnOffRequired(shop.name) : t.turnOffIntro}
    </CodeDialog>
  );
};
