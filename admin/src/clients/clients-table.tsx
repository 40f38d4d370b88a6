import { Badge, Group, Text } from '@mantine/core';
import type { ApiClientView } from '../../../contract/admin.ts';
import { ActionMenu } from '../ui/action-menu.tsx';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { ButtonLink, TextLink } from '../ui/links.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';
import type { CLIENT_DIALOGS } from './client-dialogs.tsx';

export type ClientDialog = keyof typeof CLIENT_DIALOGS;
type OnPick = (dialog: ClientDialog, client: ApiClientView) => void;

export const ClientsTable = ({ clients, onPick }: { clients: ApiClientView[]; onPick: OnPick }) => (
  <DataTable
    caption="API clients"
    columns={columnsFor(clients)}
    rows={activeFirst(clients)}
    nameOf={({ name }) => name}
    actions={(client) => <ClientActions client={client} onPick={(dialog) => onPick(dialog, client)} />}
  />
);

const activeFirst = (clients: ApiClientView[]): ApiClientView[] => [
  ...clients.filter(({ revokedAt }) => revokedAt === null),
  ...clients.filter(({ revokedAt }) => revokedAt !== null),
];

const columnsFor = (clients: ApiClientView[]): [Column<ApiClientView>, ...Column<ApiClientView>[]] => [
  { header: 'Name', cell: ({ name }) => name, width: '24%' },
  {
    header: 'Webhook URL',
    cell: ({ webhookUrl }) =>
      webhookUrl ? (
        // The page of its deliveries and the dialog to edit it show all of a longer one.
        <Text span inherit lineClamp={3} title={webhookUrl}>
          {webhookUrl}
        </Text>
      ) : (
        <Text c="dimmed" span inherit>
          None
        </Text>
      ),
  },
  {
    header: 'Last use',
    noWrap: true,
    cell: ({ lastUsedAt }) =>
      lastUsedAt ? (
        <RelativeTime at={lastUsedAt} />
      ) : (
        <Text c="dimmed" span inherit>
          Never
        </Text>
      ),
  },
  {
    header: 'State',
    noWrap: true,
    cell: (client) => (
      <ClientState client={client} replacement={clients.find(({ id }) => id === client.replacedBy)} />
    ),
  },
];

interface StateProps {
  client: ApiClientView;
  replacement: ApiClientView | undefined;
}

const ClientState = ({ client: { revokedAt }, replacement }: StateProps) =>
  revokedAt ? (
    <>
      <Group gap={6} wrap="nowrap">
        <Badge variant="default">{replacement ? 'Replaced' : 'Revoked'}</Badge>
        <RelativeTime at={revokedAt} />
      </Group>
      {replacement ? (
        <Text span inherit style={{ whiteSpace: 'normal' }}>
          by{' '}
          <TextLink to="/settings/external-api/$id" params={{ id: replacement.id }} inherit>
            {replacement.name}
          </TextLink>
        </Text>
      ) : null}
    </>
  ) : (
    <Badge variant="light" color="green">
      Active
    </Badge>
  );

const LABELS: Record<ClientDialog, string> = { edit: 'Edit', replace: 'Replace', revoke: 'Revoke' };

/** A revoked client can still be replaced: it may have been revoked in a hurry. */
const dialogsFor = ({ revokedAt, replacedBy }: ApiClientView): ClientDialog[] => {
  if (replacedBy) return [];
  return revokedAt ? ['replace'] : ['edit', 'replace', 'revoke'];
};

interface ActionProps {
  client: ApiClientView;
  onPick: (dialog: ClientDialog) => void;
}

const ClientActions = ({ client, onPick }: ActionProps) => {
  const dialogs = dialogsFor(client);
  return (
    <Group gap="xs" wrap="nowrap" display="inline-flex">
      <ButtonLink
        to="/settings/external-api/$id"
        params={{ id: client.id }}
        size="xs"
        variant="default"
        aria-label={`Deliveries to ${client.name}`}
      >
        Deliveries
      </ButtonLink>
      {dialogs.length === 0 ? null : (
        <ActionMenu
          rowName={client.name}
          groups={[
            dialogs.map((dialog) => ({
              label: LABELS[dialog],
              dangerous: dialog === 'revoke',
              run: () => onPick(dialog),
            })),
          ]}
        />
      )}
    </Group>
  );
};
