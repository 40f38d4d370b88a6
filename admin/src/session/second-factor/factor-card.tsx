import { Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { RecoveryCodes, SecondFactor } from '../../../../contract/admin-access.ts';
import { api } from '../../api.ts';
import { texts } from '../../texts.ts';
import { Dot } from '../../ui/dot.tsx';
import { ConfirmDialog } from '../../ui/forms/form-dialog.tsx';
import { notifyDone } from '../../ui/notify.ts';
import { Section } from '../../ui/page-frame.tsx';
import { QueryView } from '../../ui/query-view.tsx';
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
        <ConfirmDialog
          title={t.newCodes}
          action={t.newCodesAction}
          send={() => api.post<RecoveryCodes>('/session/second-factor/recovery-codes')}
          onDone={({ recoveryCodes }) => {
            setCodes(recoveryCodes);
            changed(true);
            close();
          }}
          onClose={close}
        >
          <Text>{t.newCodesIntro}</Text>
        </ConfirmDialog>
      ) : null}
      {dialog === 'off' ? <TurnOffDialog onClose={close} /> : null}
    </Stack>
  );
};

const TurnOffDialog = ({ onClose }: { onClose(): void }) => {
  const changed = useFactorChanged();
  const { shop } = useSession();
  const navigate = useNavigate();
  return (
    <ConfirmDialog
      title={t.turnOffTitle}
      action={t.turnOff}
      dangerous
      send={() => api.post<null>('/session/second-factor/turn-off')}
      onDone={() => {
        onClose();
        notifyDone(t.turnedOff);
        changed(false);
        if (shop.secondFactorRequired) void navigate({ to: '/second-factor', search: { to: '/account' } });
      }}
      onClose={onClose}
    >
      <Text>{shop.secondFactorRequired ? t.turnOffRequired(shop.name) : t.turnOffIntro}</Text>
    </ConfirmDialog>
  );
};
