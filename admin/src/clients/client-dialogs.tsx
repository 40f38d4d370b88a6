import { Alert, Button, Checkbox, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import type { z } from 'zod';
import {
  type ApiClientView,
  ChangeApiClient,
  CreateApiClient,
  type NewApiClientView,
} from '../../../contract/admin.ts';
import { BASE_PATH } from '../../../contract/common.ts';
import { api } from '../api.ts';
import { clientsQuery } from '../shop-queries.ts';
import { CopyBlock, CopyField } from '../ui/copy-fields.tsx';
import { useApiForm } from '../ui/forms/api-form.ts';
import { ConfirmDialog, FormDialog } from '../ui/forms/form-dialog.tsx';
import { notifyDone } from '../ui/notify.ts';
import { Hint } from '../ui/two-lines.tsx';

type NewClient = z.infer<typeof NewApiClientView>;

interface Props {
  client: ApiClientView;
  onClose: () => void;
}

export const firstCallWith = (key: string): string =>
  `curl -H 'X-Api-Key: ${key}' '${window.location.origin}${BASE_PATH}/offline-repairs?limit=3'`;

const useRefetchClients = () => {
  const queryClient = useQueryClient();
  return () => void queryClient.invalidateQueries({ queryKey: clientsQuery.queryKey });
};

/** Only what differs: a colleague may be changing the rest, and a new client takes it over as it is then. */
const changed = (client: ApiClientView, { name, webhookUrl }: z.output<typeof ChangeApiClient>) => ({
  ...(name === client.name ? {} : { name }),
  ...(webhookUrl === client.webhookUrl ? {} : { webhookUrl }),
});

const ClientInputs = ({ inputProps }: { inputProps: (field: 'name' | 'webhookUrl') => object }) => (
  <>
    <TextInput
      label="Name"
      description="What you will know it by: the program, perhaps also where it runs."
      placeholder="Till, Berlin"
      required
      data-autofocus
      autoComplete="off"
      {...inputProps('name')}
    />
    <TextInput
      label="Webhook URL (optional)"
      description="Events are sent here as they happen. An https address that can be reached from the internet; leave empty for none."
      placeholder="https://erp.example.com/hooks/handback"
      type="url"
      autoComplete="off"
      {...inputProps('webhookUrl')}
    />
  </>
);

export const NewClientDialog = ({ onClose }: { onClose: () => void }) => {
  const refetch = useRefetchClients();
  const [created, setCreated] = useState<NewClient | null>(null);
  const { form, ...dialog } = useApiForm({
    schema: CreateApiClient,
    initialValues: { name: '', webhookUrl: '' },
    send: (body) => api.post<NewClient>('/clients', body),
    onDone: (client) => {
      setCreated(client);
      refetch();
    },
  });
  if (created) return <NewKeysDialog client={created} onClose={onClose} />;
  return (
    <FormDialog {...dialog} title="New API client" action="Create client" onClose={onClose}>
      <ClientInputs inputProps={form.getInputProps} />
    </FormDialog>
  );
};

const EditDialog = ({ client, onClose }: Props) => {
  const refetch = useRefetchClients();
  const { form, ...dialog } = useApiForm({
    schema: ChangeApiClient,
    initialValues: { name: client.name, webhookUrl: client.webhookUrl ?? '' },
    send: (body) => api.patch<ApiClientView>(`/clients/${client.id}`, changed(client, body)),
    onDone: ({ name }) => {
      refetch();
      notifyDone(`${name} is saved.`);
      onClose();
    },
  });
  return (
    <FormDialog {...dialog} title={`Edit ${client.name}`} action="Save" onClose={onClose}>
      <ClientInputs inputProps={form.getInputProps} />
      <Hint>Events that are still waiting go to the new URL. Key and secret stay the same.</Hint>
    </FormDialog>
  );
};

const ReplaceDialog = ({ client, onClose }: Props) => {
  const refetch = useRefetchClients();
  const [created, setCreated] = useState<NewClient | null>(null);
  const { form, ...dialog } = useApiForm({
    schema: ChangeApiClient,
    initialValues: { name: client.name, webhookUrl: client.webhookUrl ?? '' },
    send: (body) => api.post<NewClient>(`/clients/${client.id}/replace`, changed(client, body)),
    onDone: (replacement) => {
      setCreated(replacement);
      refetch();
    },
  });
  if (created)
    return <NewKeysDialog client={created} note="The old key has stopped working." onClose={onClose} />;
  return (
    <FormDialog
      {...dialog}
      title={`Replace ${client.name}?`}
      action="Replace client"
      dangerous
      onClose={onClose}
    >
      <Text>
        For a program that goes on, but whose key was lost or seen by others. It gets a new key and a new
        webhook secret. The old key fails from the next request on, and events of returns that the program
        made, also those still waiting, go to the new client.
      </Text>
      <Text>If the program is no longer used, revoke the client instead.</Text>
      <ClientInputs inputProps={form.getInputProps} />
    </FormDialog>
  );
};

/** A browser shows several spaces as one, so people type one. */
const collapseSpaces = (name: string): string => name.trim().replace(/\s+/g, ' ');

const RevokeDialog = ({ client, onClose }: Props) => {
  const refetch = useRefetchClients();
  const [typed, setTyped] = useState('');
  const done = () => {
    refetch();
    notifyDone(`${client.name} is revoked.`);
    onClose();
  };
  return (
    <ConfirmDialog
      title={`Revoke ${client.name}?`}
      action="Revoke for good"
      dangerous
      disabled={collapseSpaces(typed) !== collapseSpaces(client.name)}
      send={() => api.post<ApiClientView>(`/clients/${client.id}/revoke`)}
      onDone={done}
      onClose={onClose}
    >
      <Text>
        Its key fails from the next request on, and events that are still waiting are dropped. This cannot be
        taken back. Returns it made stay as they are.
      </Text>
      <Text>
        If the program goes on and only needs a new key, replace the client instead: its events go to the new
        one.
      </Text>
      <TextInput
        label={
          <>
            Type <b>{client.name}</b> to confirm
          </>
        }
        data-autofocus
        autoComplete="off"
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
    </ConfirmDialog>
  );
};

export const CLIENT_DIALOGS = { edit: EditDialog, replace: ReplaceDialog, revoke: RevokeDialog };

interface NewKeysProps {
  client: NewClient;
  note?: string;
  onClose: () => void;
}

/** Shows the key and the secret, which cannot be read again; so only its button closes it. */
const NewKeysDialog = ({ client, note, onClose }: NewKeysProps) => {
  const [stored, setStored] = useState(false);
  useBlocker({
    shouldBlockFn: () => !window.confirm('Leave this page? The API key cannot be shown again.'),
    enableBeforeUnload: true,
  });
  return (
    <Modal
      opened
      onClose={onClose}
      title={`${client.name} is ready`}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      size="lg"
    >
      <Stack>
        <Alert
          color="yellow"
          title="Store these now: they are shown this once"
          icon={<TriangleAlert aria-hidden />}
        >
          Nobody can look them up later, not even we. If they are lost, replace this client. {note}
        </Alert>
        <Keys client={client} />
        <Checkbox
          label="I have stored the key and the secret in a safe place"
          checked={stored}
          onChange={(event) => setStored(event.currentTarget.checked)}
        />
        <Group justify="space-between">
          <Button component="a" href="/docs/quick-start" target="_blank" rel="noopener" variant="subtle">
            Quick start (new tab)
          </Button>
          <Button disabled={!stored} onClick={onClose}>
            Done
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
};

const Keys = ({ client }: { client: NewClient }) => (
  <>
    <CopyField
      label="API key"
      description="Goes with every request of the program."
      what="the API key"
      value={client.apiKey}
    />
    <CopyField
      label="Webhook secret"
      description={
        client.webhookUrl
          ? 'With it the program checks that an event really comes from here.'
          : 'For checking events, once the client has a webhook URL.'
      }
      what="the webhook secret"
      value={client.webhookSecret}
    />
    <CopyBlock
      label="Try it"
      description="Reads the three newest repairs that programs of the shop made."
      what="the command"
      value={firstCallWith(client.apiKey)}
    />
  </>
);
