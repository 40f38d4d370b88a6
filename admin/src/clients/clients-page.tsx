import { Button, EmptyState } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { BookOpen, KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import type { ApiClientView } from '../../../contract/admin.ts';
import { clientsQuery } from '../shop-queries.ts';
import { CopyBlock } from '../ui/copy-fields.tsx';
import { PageFrame, Section } from '../ui/page-frame.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { CLIENT_DIALOGS, firstCallWith, NewClientDialog } from './client-dialogs.tsx';
import { type ClientDialog, ClientsTable } from './clients-table.tsx';

type Open = { dialog: ClientDialog; client: ApiClientView };

export const ClientsPage = () => {
  const clients = useQuery(clientsQuery);
  const [creating, setCreating] = useState(false);
  const [open, setOpen] = useState<Open | null>(null);
  const Dialog = open && CLIENT_DIALOGS[open.dialog];
  const newButton = (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setCreating(true)}>
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
