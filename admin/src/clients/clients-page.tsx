import { Button, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { BookOpen, Plus } from 'lucide-react';
import { useState } from 'react';
import type { ApiClientView } from '../../../contract/admin.ts';
import { PUBLIC_PATH } from '../api.ts';
import { clientsQuery } from '../shop-queries.ts';
import { texts } from '../texts.ts';
import { ActionMenu } from '../ui/action-menu.tsx';
import { CopyBlock } from '../ui/copy-fields.tsx';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { ButtonLink } from '../ui/links.tsx';
import { PageFrame, Section } from '../ui/page-frame.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';
import { Dimmed, SecondLine } from '../ui/two-lines.tsx';
import { CLIENT_DIALOGS, firstCallWith, NewClientDialog } from './client-dialogs.tsx';
import { ClientState, hasEnded, unusualRights, worksNow } from './client-state.tsx';

const t = texts.clients;

export const ClientsPage = () => {
  const clients = useQuery(clientsQuery);
  const [creating, setCreating] = useState(false);
  const [open, setOpen] = useState<{ dialog: ClientDialog; client: ApiClientView } | null>(null);
  const Dialog = open && CLIENT_DIALOGS[open.dialog];
  const newButton = (
    <Button leftSection={<Plus />} onClick={() => setCreating(true)}>
      {t.newClient}
    </Button>
  );
  return (
    <PageFrame title={t.title} intro={t.intro} actions={newButton}>
      <QueryView query={clients}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState title={t.none} description={t.noneHint} />
          ) : (
            <DataTable
              caption={t.caption}
              columns={columnsFor(items)}
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
      {creating ? <NewClientDialog onClose={() => setCreating(false)} /> : null}
      {Dialog ? <Dialog client={open.client} onClose={() => setOpen(null)} /> : null}
    </PageFrame>
  );
};

const Reference = () => (
  <Section
    title={t.connecting}
    aside={
      <Button
        component="a"
        href={`${PUBLIC_PATH}/docs`}
        target="_blank"
        rel="noopener"
        variant="default"
        leftSection={<BookOpen />}
      >
        {t.docs}
      </Button>
    }
  >
    <CopyBlock
      label={t.firstCall}
      description={t.firstCallHint}
      what={t.theCommand}
      value={firstCallWith('YOUR_API_KEY')}
    />
  </Section>
);

type ClientDialog = keyof typeof CLIENT_DIALOGS;
const activeFirst = (clients: ApiClientView[]): ApiClientView[] =>
  clients.toSorted((one, other) => Number(hasEnded(one)) - Number(hasEnded(other)));

const columnsFor = (clients: ApiClientView[]): [Column<ApiClientView>, ...Column<ApiClientView>[]] => [
  {
    header: t.name,
    cell: ({ name, rights }) => (
      <>
        {name}
        <SecondLine>{unusualRights(rights)}</SecondLine>
      </>
    ),
    width: '28%',
  },
  {
    header: t.webhookUrl,
    cell: ({ webhookUrl }) =>
      webhookUrl ? (
        // The dialog to edit it shows all of a longer one.
        <Text span inherit lineClamp={1} title={webhookUrl} style={{ wordBreak: 'break-all' }}>
          {webhookUrl}
        </Text>
      ) : (
        <Dimmed>{t.noUrl}</Dimmed>
      ),
  },
  {
    header: t.lastUsed,
    noWrap: true,
    cell: ({ lastUsedAt }) => (lastUsedAt ? <RelativeTime at={lastUsedAt} /> : <Dimmed>{t.never}</Dimmed>),
  },
  {
    header: t.state,
    noWrap: true,
    width: '20%',
    cell: (client) => (
      <ClientState client={client} replacement={clients.find(({ id }) => id === client.replacedBy)} />
    ),
  },
];

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
        aria-label={t.deliveriesTo(client.name)}
      >
        {t.deliveries}
      </ButtonLink>
      {dialogs.length === 0 ? null : (
        <ActionMenu
          rowName={client.name}
          groups={[
            dialogs.map((dialog) => ({
              label: t[dialog],
              dangerous: dialog === 'revoke',
              run: () => onPick(dialog),
            })),
          ]}
        />
      )}
    </Group>
  );
};
