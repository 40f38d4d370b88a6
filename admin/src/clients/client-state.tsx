import { Group, Text } from '@mantine/core';
import type { ApiClientView } from '../../../contract/admin.ts';
import { texts } from '../texts.ts';
import { Dot, type DotProps } from '../ui/dot.tsx';
import { wordFor } from '../ui/known-word.ts';
import { TextLink } from '../ui/links.tsx';
import { formatEnd, RelativeTime } from '../ui/relative-time.tsx';
import { SecondLine } from '../ui/two-lines.tsx';

const t = texts.clients;

/** What a client may do, unless that is what a new one may. */
export const unusualRights = (rights: ApiClientView['rights']): string | null => {
  if (rights.length === 0) return t.readOnly;
  return rights.join() === 'write' ? null : rights.map((right) => wordFor(t.rightNames, right)).join(' · ');
};

export const worksNow = ({ keyStatus }: ApiClientView): boolean =>
  keyStatus === 'ACTIVE' || keyStatus === 'EXPIRES_SOON';

/** It was revoked, or replaced by a client that receives its events; its key may still work for a while. */
export const hasEnded = ({ revokedAt, replacedBy }: ApiClientView): boolean =>
  revokedAt !== null || replacedBy !== null;

/** When the key ends or ended: soon, in the past, or because the client was replaced. */
export const keyEnd = (client: ApiClientView): string | null => {
  const { expiresAt, keyStatus, replacedBy } = client;
  if (!expiresAt || keyStatus === 'REVOKED' || (keyStatus === 'ACTIVE' && !replacedBy)) return null;
  return t.keyEnd(replacedBy !== null, worksNow(client), formatEnd(expiresAt));
};

const STATES: Record<string, Omit<DotProps, 'className'>> = {
  ACTIVE: { label: t.states.ACTIVE, color: 'green' },
  EXPIRES_SOON: { label: t.states.EXPIRES_SOON, color: 'yellow' },
  EXPIRED: { label: t.states.EXPIRED, color: 'red' },
  REVOKED: { label: t.states.REVOKED, color: 'gray', isOver: true },
};
export const unknownState = (state: string): DotProps => ({ label: state, color: 'gray' });
const REPLACED = { label: t.states.REPLACED, color: 'gray', isOver: true };

interface Props {
  client: ApiClientView;
  replacement: ApiClientView | undefined;
}

export const ClientState = ({ client, replacement }: Props) => (
  <>
    <Group gap={6} wrap="nowrap">
      <Dot
        {...(client.replacedBy ? REPLACED : (STATES[client.keyStatus] ?? unknownState(client.keyStatus)))}
      />
      {client.revokedAt ? <RelativeTime at={client.revokedAt} /> : null}
    </Group>
    <Text component="div" inherit style={{ whiteSpace: 'normal' }}>
      {replacement ? (
        <>
          {t.replacedBy}{' '}
          <TextLink to="/settings/external-api/$id" params={{ id: replacement.id }} inherit>
            {replacement.name}
          </TextLink>
        </>
      ) : null}
      <SecondLine>{keyEnd(client)}</SecondLine>
    </Text>
  </>
);
