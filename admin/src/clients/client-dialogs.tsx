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
  ReplaceApiClient,
} from '../../../contract/admin.ts';
import { BASE_PATH } from '../../../contract/common.ts';
import { api } from '../api.ts';
import { clientsQuery } from '../shop-queries.ts';
import { CopyBlock, CopyField } from '../ui/copy-fields.tsx';
import { useApiForm } from '../ui/forms/api-form.ts';
import { ConfirmDialog, FormDialog } from '../ui/forms/form-dialog.tsx';
import { notifyDone } from '../ui/notify.ts';
import { formatEnd } from '../ui/relative-time.tsx';
import { Hint } from '../ui/two-lines.tsx';
import {
  bodyOf,
  ClientInputs,
  changedIn,
  endOfDay,
  NameAndUrl,
  OldKeyInputs,
  valuesOf,
} from './client-inputs.tsx';
import { worksNow } from './client-state.tsx';

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

/** The schemas turn a time into milliseconds. */
const isoOf = (ms: number | null | undefined) => (typeof ms === 'number' ? new Date(ms).toISOString() : ms);

export const NewClientDialog = ({ onClose }: { onClose: () => void }) => {
  const refetch = useRefetchClients();
  const [created, setCreated] = useState<NewClient | null>(null);
  const { form, ...dialog } = useApiForm({
    schema: CreateApiClient,
    initialValues: valuesOf(null),
    bodyOf: (values) => bodyOf(values),
    send: (body) => api.post<NewClient>('/clients', { ...body, expiresAt: isoOf(body.expiresAt) }),
    onDone: (client) => {
      setCreated(client);
      refetch();
    },
  });
  if (created) return <NewKeysDialog client={created} onClose={onClose} />;
  return (
    <FormDialog {...dialog} title="New API client" action="Create client" onClose={onClose}>
      <ClientInputs form={form} />
    </FormDialog>
  );
};

const EditDialog = ({ client, onClose }: Props) => {
  const refetch = useRefetchClients();
  const before = valuesOf(client);
  const { form, ...dialog } = useApiForm({
    schema: ChangeApiClient,
    initialValues: before,
    bodyOf: (values) => bodyOf(values, changedIn(values, before)),
    send: (body) =>
      api.patch<ApiClientView>(`/clients/${client.id}`, { ...body, expiresAt: isoOf(body.expiresAt) }),
    onDone: ({ name }) => {
      refetch();
      notifyDone(`${name} is saved.`);
      onClose();
    },
  });
  return (
    <FormDialog {...dialog} title={`Edit ${client.name}`} action="Save" onClose={onClose}>
      <ClientInputs form={form} />
      <Hint>Events that are still waiting go to the new URL. Key and secret stay the same.</Hint>
    </FormDialog>
  );
};

/** Every replacement has a name, as every client. */
const Replacement = ReplaceApiClient.extend({ name: ChangeApiClient.shape.name });

/** The old key does not outlive the last day it had. */
const noteOn = ({ expiresAt }: ApiClientView, lastDay: string | null): string => {
  if (lastDay === null) return 'The old key has stopped working.';
  const until = endOfDay(lastDay);
  return `The old key works until ${formatEnd(expiresAt && expiresAt < until ? expiresAt : until)}.`;
};

const ReplaceDialog = ({ client, onClose }: Props) => {
  const refetch = useRefetchClients();
  const [created, setCreated] = useState<{ client: NewClient; note: string } | null>(null);
  const { name, webhookUrl } = valuesOf(client);
  const { form, ...dialog } = useApiForm({
    schema: Replacement,
    initialValues: { name, webhookUrl, oldKey: 'ends', oldKeyUntil: '' },
    bodyOf: ({ oldKey, oldKeyUntil, ...values }) => ({
      ...changedIn(values, { name, webhookUrl }),
      ...(oldKey === 'ends' ? {} : { oldKeyUntil: endOfDay(oldKeyUntil) }),
    }),
    send: (body) =>
      api.post<NewClient>(`/clients/${client.id}/replace`, {
        ...body,
        oldKeyUntil: isoOf(body.oldKeyUntil),
      }),
    onDone: (replacement, { oldKey, oldKeyUntil }) => {
      setCreated({ client: replacement, note: noteOn(client, oldKey === 'ends' ? null : oldKeyUntil) });
      refetch();
    },
  });
  if (created) return <NewKeysDialog {...created} onClose={onClose} />;
  return (
    <FormDialog
      {...dialog}
      title={`Replace ${client.name}?`}
      action="Replace client"
      dangerous
      onClose={onClose}
    >
      <Text>
        For a program that goes on and needs a new key. It also gets a new webhook secret: from now on events
        of returns that it created, also those still waiting, go to the new client and are signed with the new
        secret. What it may do and the events it is sent stay the same; the new key has no last day.
      </Text>
      <Text>If the program is no longer used, revoke the client instead.</Text>
      <NameAndUrl inputProps={form.getInputProps} />
      {worksNow(client) ? <OldKeyInputs inputProps={form.getInputProps} values={form.values} /> : null}
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
        Its key fails from the next request on. This cannot be taken back. Returns it made stay as they are.
      </Text>
      <Text>
        {client.replacedBy
          ? 'The client that replaced it goes on as before.'
          : 'Events that are still waiting are dropped. If the program goes on and only needs a new key, replace the client instead: its events go to the new one.'}
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
          You cannot see them again later. If they are lost, replace this client. {note}
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
