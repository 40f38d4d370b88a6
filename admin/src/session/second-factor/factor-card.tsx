import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { RecoveryCodes, SecondFactor } from '../../../../contract/admin-access.ts';
import { api } from '../../api.ts';
import { ConfirmDialog } from '../../ui/forms/form-dialog.tsx';
import { notifyDone } from '../../ui/notify.ts';
import { Section } from '../../ui/page-frame.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { useSession } from '../session.ts';
import { factorQuery, RecoveryCodeList, SetUpFactor, useFactorChanged } from './set-up-factor.tsx';

export const FactorCard = () => {
  const factor = useQuery(factorQuery);
  // While it is set up, or its codes are shown, a fresh answer must not replace what is on the screen.
  const [settingUp, setSettingUp] = useState(false);
  return (
    <Section
      title="Second factor"
      size="h4"
      maw={720}
      aside={
        factor.data ? (
          <Badge variant="light" color={factor.data.isOn ? 'teal' : 'gray'}>
            {factor.data.isOn ? 'On' : 'Off'}
          </Badge>
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
                Signing in then takes your password and a code from your phone. Your password alone lets no
                one in.
              </Text>
              <SetUpFactor
                action="Set up a second factor"
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
    <Text span inherit {...(left <= LOW ? { c: 'red', fw: 600 } : {})}>
      {left === 1 ? '1 recovery code is' : `${left} recovery codes are`} left
    </Text>
    {left <= LOW ? ': make new ones.' : '.'}
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
        Signing in takes your password and a code from your authenticator app.
      </Text>
      <CodesLeft left={factor.recoveryCodesLeft} />
      <Group gap="xs">
        <Button variant="default" onClick={() => setDialog('codes')}>
          Make new recovery codes
        </Button>
        <Button variant="default" onClick={() => setDialog('off')}>
          Turn it off
        </Button>
      </Group>
      {dialog === 'codes' ? (
        <ConfirmDialog
          title="Make new recovery codes"
          action="Make new codes"
          send={() => api.post<RecoveryCodes>('/session/second-factor/recovery-codes')}
          onDone={({ recoveryCodes }) => {
            setCodes(recoveryCodes);
            changed(true);
            close();
          }}
          onClose={close}
        >
          <Text>You get ten new codes. The ones before stop working.</Text>
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
      title="Turn the second factor off"
      action="Turn it off"
      dangerous
      send={() => api.post<null>('/session/second-factor/turn-off')}
      onDone={() => {
        onClose();
        notifyDone('The second factor is off.');
        changed(false);
        if (shop.secondFactorRequired) void navigate({ to: '/second-factor', search: { to: '/account' } });
      }}
      onClose={onClose}
    >
      <Text>
        {shop.secondFactorRequired
          ? `${shop.name} requires a second factor: you set up a new one right after this.`
          : 'Signing in then takes the password alone.'}
      </Text>
    </ConfirmDialog>
  );
};
