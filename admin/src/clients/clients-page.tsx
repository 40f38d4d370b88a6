import { Badge, Button, Card, EmptyState, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { BookOpen, KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import type { ApiClientView } from '../../../contract/admin.ts';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { ButtonLink } from '../ui/links.tsx';
import { PageFrame } from '../ui/page-frame.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';
import { clientsQuery } from './clients-query.ts';
import { CopyBlock } from './copy-fields.tsx';
import { EditClientDialog } from './edit-client-dialog.tsx';
import { firstCallWith } from './first-call.ts';
import { NewClientDialog } from './new-client-dialog.tsx';
import { RevokeClientDialog } from './revoke-client-dialog.tsx';

type Open = { dialog: 'new' } | { dialog: 'edit' | 'revoke'; client: ApiClientView };

export const ClientsPage = () => {
  const clients = useQuery(clientsQuery);
  const [open, setOpen] = useState<Open | null>(null);
  const close = () => setOpen(null);
  const newButton = (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setOpen({ dialog: 'new' })}>
      New client
    </Button>
  );
  return (
    <PageFrame
      title="External API"
      intro="Each program that creates or follows returns, a till or an ERP for example, is a client with a key of its own. One that has a webhook URL is told of what happens to its returns."
      actions={newButton}
    >
      <QueryView query={clients}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState
              icon={<KeyRound aria-hidden />}
              title="No program is connected yet"
              description="Make a client for each program. You get a key for it, which is shown once."
            />
          ) : (
            <DataTable
              caption="API clients"
              columns={COLUMNS}
              rows={activeFirst(items)}
              nameOf={({ name }) => name}
              actions={(client) => (
                <ClientActions client={client} onPick={(dialog) => setOpen({ dialog, client })} />
              )}
            />
          )
        }
      </QueryView>
      <Reference />
      {open?.dialog === 'new' ? <NewClientDialog onClose={close} /> : null}
      {open?.dialog === 'edit' ? <EditClientDialog client={open.client} onClose={close} /> : null}
      {open?.dialog === 'revoke' ? <RevokeClientDialog client={open.client} onClose={close} /> : null}
    </PageFrame>
  );
};

const activeFirst = (clients: ApiClientView[]): ApiClientView[] => [
  ...clients.filter(({ revokedAt }) => revokedAt === null),
  ...clients.filter(({ revokedAt }) => revokedAt !== null),
];

const COLUMNS: [Column<ApiClientView>, ...Column<ApiClientView>[]] = [
  { header: 'Name', cell: ({ name }) => name, width: '24%' },
  {
    header: 'Webhook URL',
    cell: ({ webhookUrl }) =>
      webhookUrl ?? (
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
    cell: ({ revokedAt }) =>
      revokedAt ? (
        <Group gap={6} wrap="nowrap">
          <Badge variant="default" miw="fit-content">
            Revoked
          </Badge>
          <RelativeTime at={revokedAt} />
        </Group>
      ) : (
        <Badge variant="light" color="green">
          Active
        </Badge>
      ),
  },
];

interface ActionProps {
  client: ApiClientView;
  onPick: (dialog: 'edit' | 'revoke') => void;
}

const ClientActions = ({ client, onPick }: ActionProps) => (
  <Group gap="xs" wrap="nowrap" justify="flex-end" display="inline-flex">
    <ButtonLink
      to="/settings/external-api/$id"
      params={{ id: client.id }}
      size="xs"
      variant="default"
      aria-label={`Deliveries to ${client.name}`}
    >
      Deliveries
    </ButtonLink>
    {client.revokedAt ? null : (
      <>
        <Button size="xs" variant="default" aria-label={`Edit ${client.name}`} onClick={() => onPick('edit')}>
          Edit
        </Button>
        <Button
          size="xs"
          variant="default"
          aria-label={`Revoke ${client.name}`}
          onClick={() => onPick('revoke')}
        >
          Revoke
        </Button>
      </>
    )}
  </Group>
);

const Reference = () => (
  <Card withBorder component="section" aria-labelledby="api-reference">
    <Stack gap="sm">
      <Group justify="space-between">
        <Title order={3} size="h4" id="api-reference">
          Connecting a program
        </Title>
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
      </Group>
      <CopyBlock
        label="A first call"
        description="Put a client's key in the place of YOUR_API_KEY."
        what="the command"
        value={firstCallWith('YOUR_API_KEY')}
      />
    </Stack>
  </Card>
);
