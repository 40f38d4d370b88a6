import {
  Alert,
  Anchor,
  Badge,
  Button,
  Card,
  EmptyState,
  Group,
  Menu,
  Stack,
  Text,
  Title,
} from '@mantine/core';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { BookOpen, EllipsisVertical, KeyRound, Pencil, Plus, ShieldOff, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import type { z } from 'zod';
import type { ApiClientList, ApiClientView } from '../../../contract/admin.ts';
import { api } from '../api.ts';
import {
  clientsKey,
  curlWith,
  EditClientDialog,
  NewClientDialog,
  RevokeClientDialog,
} from '../parts/client-dialogs.tsx';
import { CopyBlock } from '../parts/copyable.tsx';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { Moment } from '../parts/moment.tsx';
import { PLAN_WORDS } from '../parts/plans.ts';
import { QueryView } from '../parts/query-view.tsx';
import { SettingsPage } from '../parts/settings-page.tsx';
import { useSession } from '../session.ts';

const clientsQuery = queryOptions({
  queryKey: clientsKey,
  queryFn: () => api.get<z.infer<typeof ApiClientList>>('/clients'),
});

type Open = { dialog: 'new' } | { dialog: 'edit' | 'revoke'; client: ApiClientView };

export const ClientsPage = () => {
  const clients = useQuery(clientsQuery);
  const [open, setOpen] = useState<Open | null>(null);
  const close = () => setOpen(null);
  const make = (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setOpen({ dialog: 'new' })}>
      New client
    </Button>
  );
  return (
    <SettingsPage
      title="External API"
      lead="Each program that creates or follows returns, a till or an ERP for example, is a client with a key of its own. One that has a webhook URL is told of what happens to its returns."
      actions={make}
    >
      <ApiState />
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
    </SettingsPage>
  );
};

const activeFirst = (clients: ApiClientView[]): ApiClientView[] => [
  ...clients.filter(({ revokedAt }) => revokedAt === null),
  ...clients.filter(({ revokedAt }) => revokedAt !== null),
];

const COLUMNS: [Column<ApiClientView>, ...Column<ApiClientView>[]] = [
  { head: 'Name', cell: ({ name }) => name, width: '26%' },
  {
    head: 'Webhook URL',
    cell: ({ webhookUrl }) =>
      webhookUrl ?? (
        <Text c="dimmed" span inherit>
          None
        </Text>
      ),
    width: '34%',
  },
  {
    head: 'Last use',
    cell: ({ lastUsedAt }) =>
      lastUsedAt ? (
        <Moment at={lastUsedAt} />
      ) : (
        <Text c="dimmed" span inherit>
          Never
        </Text>
      ),
  },
  {
    head: 'State',
    cell: ({ revokedAt }) =>
      revokedAt ? (
        <Group gap={6}>
          <Badge variant="default">Revoked</Badge>
          <Moment at={revokedAt} />
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
    <Button
      size="xs"
      variant="default"
      renderRoot={(props) => (
        <Link
          {...props}
          to="/settings/external-api/$id"
          params={{ id: client.id }}
          aria-label={`Deliveries to ${client.name}`}
        />
      )}
    >
      Deliveries
    </Button>
    {client.revokedAt ? null : (
      <Menu position="bottom-end">
        <Menu.Target>
          <Button size="xs" variant="default" px={6} aria-label={`More for ${client.name}`}>
            <EllipsisVertical size={16} aria-hidden />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Pencil size={16} aria-hidden />} onClick={() => onPick('edit')}>
            Edit…
          </Menu.Item>
          <Menu.Item
            leftSection={<ShieldOff size={16} aria-hidden />}
            color="red"
            onClick={() => onPick('revoke')}
          >
            Revoke…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    )}
  </Group>
);

/** Why calls are refused at present, if they are. */
const ApiState = () => {
  const { shop } = useSession();
  const { name, hasApi } = PLAN_WORDS[shop.plan];
  if (hasApi && shop.subscription === 'active') return null;
  return (
    <Alert
      color="yellow"
      icon={<TriangleAlert aria-hidden />}
      title={
        hasApi ? 'Programs can only read at present' : `The ${name} plan does not include the External API`
      }
    >
      {hasApi
        ? "The shop's subscription is inactive: creations and changes are refused until it is active again."
        : 'Every call is refused and no events are sent until the shop is on the Scale or the Enterprise plan. '}{' '}
      <Anchor component={Link} to="/settings/plan" inherit underline="always">
        Plan and usage
      </Anchor>
    </Alert>
  );
};

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
          API reference (new tab)
        </Button>
      </Group>
      <CopyBlock
        label="A first call"
        description="Put a client's key in the place of YOUR_API_KEY."
        what="the command"
        value={curlWith('YOUR_API_KEY')}
      />
    </Stack>
  </Card>
);
