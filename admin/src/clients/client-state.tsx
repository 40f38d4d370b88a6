import { Badge, Group, Text } from '@mantine/core';
import type { ApiClientView } from '../../../contract/admin.ts';
import { RIGHT_LABELS } from '../shop-queries.ts';
import { TextLink } from '../ui/links.tsx';
import { formatEnd, RelativeTime } from '../ui/relative-time.tsx';
import { SecondLine } from '../ui/two-lines.tsx';

/** What a client may do, unless that is what a new one may. */
export const unusualRights = (rights: ApiClientView['rights']): string | null => {
  if (rights.length === 0) return 'Read only';
  return rights.join() === 'write' ? null : rights.map((right) => RIGHT_LABELS[right]).join(' · ');
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
  return `The ${replacedBy ? 'old ' : ''}key ${worksNow(client) ? 'works' : 'worked'} until ${formatEnd(expiresAt)}.`;
};

const STATES = {
  ACTIVE: { label: 'Active', color: 'green' },
  EXPIRES_SOON: { label: 'Expires soon', color: 'yellow' },
  EXPIRED: { label: 'Key expired', color: 'red' },
  REVOKED: { label: 'Revoked', color: null },
};
const REPLACED = { label: 'Replaced', color: null };

const StateBadge = ({ client: { keyStatus, revokedAt, replacedBy } }: { client: ApiClientView }) => {
  const { label, color } = replacedBy ? REPLACED : STATES[keyStatus];
  return (
    <Group gap={6} wrap="nowrap">
      <Badge {...(color ? { variant: 'light', color } : { variant: 'default' })}>{label}</Badge>
      {revokedAt ? <RelativeTime at={revokedAt} /> : null}
    </Group>
  );
};

interface Props {
  client: ApiClientView;
  replacement: ApiClientView | undefined;
}

export const ClientState = ({ client, replacement }: Props) => (
  <>
    <StateBadge client={client} />
    <Text component="div" inherit style={{ whiteSpace: 'normal' }}>
      {replacement ? (
        <>
          by{' '}
          <TextLink to="/settings/external-api/$id" params={{ id: replacement.id }} inherit>
            {replacement.name}
          </TextLink>
        </>
      ) : null}
      <SecondLine>{keyEnd(client)}</SecondLine>
    </Text>
  </>
);
