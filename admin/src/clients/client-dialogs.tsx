import { Alert, Button, Checkbox, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { TriangleAlert } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import type { z } from 'zod';
import {
  type ApiClientView,
  ChangeApiClient,
  CreateApiClient,
  type NewApiClientView,
} from '../../../contract/admin.ts';
import { BASE_PATH } from '../../../contract/common.ts';
import { api } from '../api.ts';
import { useApiForm } from '../ui/api-form.ts';
import { FormDialog } from '../ui/form-dialog.tsx';
import { notifyDone } from '../ui/notify.ts';
import { CopyBlock, CopyField } from './copy-fields.tsx';

type NewClient = z.infer<typeof NewApiClientView>;

export const clientsKey = ['clients'] as const;

/** A first call to try a key with. */
export const curlWith = (key: string): string =>
  `curl -H 'X-Api-Key: ${key}' '${window.location.origin}${BASE_PATH}/offline-repairs?limit=3'`;

const HOOK_HELP =
  'Events are sent here as they happen. An https address that can be reached from the internet; leave empty for none.';

const inputsOf = (form: { getInputProps: (field: 'name' | 'webhookUrl') => object }) => (
  <>
    <TextInput
      label="Name"
      description="What you will know it by: the program, perhaps also where it runs."
      placeholder="Till, Berlin"
      required
      data-autofocus
      autoComplete="off"
      {...form.getInputProps('name')}
    />
    <TextInput
      label="Webhook URL (optional)"
      description={HOOK_HELP}
      placeholder="https://erp.example.com/hooks/handback"
      type="url"
      autoComplete="off"
      {...form.getInputProps('webhookUrl')}
    />
  </>
);

export const NewClientDialog = ({ onClose }: { onClose: () => void }) => {
  const queryClient = useQueryClient();
  const [made, setMade] = useState<NewClient | null>(null);
  const { form, submit, busy, failure } = useApiForm({
    schema: CreateApiClient,
    initialValues: { name: '', webhookUrl: '' },
    send: (body) => api.post<NewClient>('/clients', body),
    onDone: (client) => {
      setMade(client);
      void queryClient.invalidateQueries({ queryKey: clientsKey });
    },
  });
  if (made) return <KeysOnce client={made} onClose={onClose} />;
  return (
    <FormDialog
      title="New API client"
      action="Create client"
      busy={busy}
      failure={failure}
      onSubmit={submit}
      onClose={onClose}
    >
      {inputsOf(form)}
    </FormDialog>
  );
};

/** The only time key and secret are seen: closes by one deliberate way. */
const KeysOnce = ({ client, onClose }: { client: NewClient; onClose: () => void }) => {
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
      attributes={{ header: { role: 'none' } }}
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
          Nobody can look them up later, not even we. If they are lost, make a new client and revoke this one.
        </Alert>
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
          value={curlWith(client.apiKey)}
        />
        <Checkbox
          label="I have stored the key and the secret in a safe place"
          checked={stored}
          onChange={(event) => setStored(event.currentTarget.checked)}
        />
        <Group justify="space-between">
          <Button component="a" href="/docs" target="_blank" rel="noopener" variant="subtle">
            API reference (new tab)
          </Button>
          <Button disabled={!stored} onClick={onClose}>
            Done
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
};

interface OfClient {
  client: ApiClientView;
  onClose: () => void;
}

export const EditClientDialog = ({ client, onClose }: OfClient) => {
  const queryClient = useQueryClient();
  const { form, submit, busy, failure } = useApiForm({
    schema: ChangeApiClient,
    initialValues: { name: client.name, webhookUrl: client.webhookUrl ?? '' },
    // Only what was changed here: a colleague may be changing the rest.
    send: ({ name, webhookUrl }) =>
      api.patch<ApiClientView>(`/clients/${client.id}`, {
        ...(name === client.name ? {} : { name }),
        ...(webhookUrl === client.webhookUrl ? {} : { webhookUrl }),
      }),
    onDone: (changed) => {
      void queryClient.invalidateQueries({ queryKey: clientsKey });
      notifyDone(`${changed.name} is saved.`);
      onClose();
    },
  });
  return (
    <FormDialog
      title={`Edit ${client.name}`}
      action="Save"
      busy={busy}
      failure={failure}
      onSubmit={submit}
      onClose={onClose}
    >
      {inputsOf(form)}
      <Text size="sm" c="dimmed">
        Events that are still waiting go to the new URL. Key and secret stay the same.
      </Text>
    </FormDialog>
  );
};

/** Spaces are shown as one, so one is what people type. */
const asShown = (name: string): string => name.trim().replace(/\s+/g, ' ');

export const RevokeClientDialog = ({ client, onClose }: OfClient) => {
  const queryClient = useQueryClient();
  const [typed, setTyped] = useState('');
  const revoking = useMutation({
    mutationFn: () => api.post<ApiClientView>(`/clients/${client.id}/revoke`),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: clientsKey });
      notifyDone(`${client.name} is revoked.`);
      onClose();
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    revoking.mutate();
  };
  return (
    <FormDialog
      title={`Revoke ${client.name}?`}
      action="Revoke for good"
      dangerous
      held={asShown(typed) !== asShown(client.name)}
      busy={revoking.isPending}
      failure={revoking.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <Text>
        Its key fails from the next request on, and events that are still waiting are dropped. This cannot be
        taken back. Returns it made stay as they are.
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
    </FormDialog>
  );
};
