import { Button, EmptyState, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { BookOpen, KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import type { ApiClientView } from '../../../contract/admin.ts';
import { clientsQuery } from '../shop-queries.ts';
import { ActionMenu } from '../ui/action-menu.tsx';
import { CopyBlock } from '../ui/copy-fields.tsx';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { ButtonLink } from '../ui/links.tsx';
import { PageFrame, Section } from '../ui/page-frame.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';
import { SecondLine } from '../ui/two-lines.tsx';
import { CLIENT_DIALOGS, firstCallWith, NewClientDialog } from './client-dialogs.tsx';
import { ClientState, hasEnded, unusualRights, worksNow } from './client-state.tsx';

export const ClientsPage = () => {
  const clients = useQuery(clientsQuery);
  const [creating, setCreating] = useState(false);
  const [open, setOpen] = useState<{ dialog: ClientDialog; client: ApiClientView } | null>(null);
  const Dialog = open && CLIENT_DIALOGS[open.dialog];
  const newButton = (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setCreating(true)}>
      New client
    </Button>
  );
  return (
    <PageFrame
      title="External API"
      intro="Each program that creates or follows returns, a till or an ERP for example, is a client with a key of its own. One that has a webhook URL is sent the events of its returns."
      actions={newButton}
    >
      <QueryView query={clients}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState
              icon={<KeyRound aria-hidden />}
              title="No program is connected yet"
              description="Create a client for each program. You get a key for it, which is shown once."
            />
          ) : (
            <ClientsTable clients={items} onPick={(dialog, client) => setOpen({ dialog, client })} />
          )
        }
      </QueryView>
      <Reference />
      {creating ? <NewClientDialog onClose={() => setCreating(false)} /> : null}
      {Dialog ? <Dialog client={open.client} onClose={() => setOpen(null)} /> : null}
    </PageFrame>
  );
};

const Reference = () => (
  <Section
    title="Connecting a program"
    size="h4"
    aside={
      <Button
        component="a"
        href="/docs"
        target="_blank"
        rel="noopener"
        variant="default"
        leftSection={<BookOpen size={16} aria-hidden />}
      >
        Documentation (new tab)
      </Button>
    }
  >
    <CopyBlock
      label="A first call"
      description="Put a client's key in the place of YOUR_API_KEY."
      what="the command"
      value={firstCallWith('YOUR_API_KEY')}
    />
  </Section>
);

type ClientDialog = keyof typeof CLIENT_DIALOGS;
type OnPick = (dialog: ClientDialog, client: ApiClientView) => void;

const ClientsTable = ({ clients, onPick }: { clients: ApiClientView[]; onPick: OnPick }) => (
  <DataTable
    caption="API clients"
    columns={columnsFor(clients)}
    rows={activeFirst(clients)}
    nameOf={({ name }) => name}
    actions={(client) => <ClientActions client={client} onPick={(dialog) => onPick(dialog, client)} />}
  />
);

const activeFirst = (clients: ApiClientView[]): ApiClientView[] =>
  clients.toSorted((one, other) => Number(hasEnded(one)) - Number(hasEnded(other)));

const Dimmed = ({ children }: { children: string }) => (
  <Text c="dimmed" span inherit>
    {children}
  </Text>
);

const columnsFor = (clients: ApiClientView[]): [Column<ApiClientView>, ...Column<ApiClientView>[]] => [
  {
    header: 'Name',
    cell: ({ name, rights }) => (
      <>
        {name}
        <SecondLine>{unusualRights(rights)}</SecondLine>
      </>
    ),
    width: '24%',
  },
  {
    header: 'Webhook URL',
    cell: ({ webhookUrl }) =>
      webhookUrl ? (
        // The page of its deliveries and the dialog to edit it show all of a longer one.
        <Text span inherit lineClamp={3} title={webhookUrl}>
          {webhookUrl}
        </Text>
      ) : (
        <Dimmed>None</Dimmed>
      ),
  },
  {
    header: 'Last use',
    noWrap: true,
    cell: ({ lastUsedAt }) => (lastUsedAt ? <RelativeTime at={lastUsedAt} /> : <Dimmed>Never</Dimmed>),
  },
  {
    header: 'State',
    noWrap: true,
    cell: (client) => (
      <ClientState client={client} replacement={clients.find(({ id }) => id === client.replacedBy)} />
    ),
  },
];

const LABELS: Record<ClientDialog, string> = { edit: 'Edit', replace: 'Replace', revoke: 'Revoke' };

/** A revoked client can still be replaced: it may have been revoked in a hurry. */
const dialogsFor = (client: ApiClientView): ClientDialog[] => {
  if (client.replacedBy) return worksNow(client) ? ['revoke'] : [];
  return client.revokedAt ? ['replace'] : ['edit', 'replace', 'revoke'];
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
