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
import { api, PUBLIC_PATH } from '../api.ts';
import { clientsQuery } from '../shop-queries.ts';
import { texts } from '../texts.ts';
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

const t = texts.clients;

type NewClient = z.infer<typeof NewApiClientView>;

interface Props {
  client: ApiClientView;
  onClose: () => void;
}

export const firstCallWith = (key: string): string =>
  `curl -H 'X-Api-Key: ${key}' '${window.location.origin}${PUBLIC_PATH}${BASE_PATH}/offline-repairs?limit=3'`;

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
    <FormDialog {...dialog} title={t.newTitle} action={t.create} onClose={onClose}>
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
      notifyDone(t.saved(name));
      onClose();
    },
  });
  return (
    <FormDialog {...dialog} title={t.editTitle(client.name)} action={t.save} onClose={onClose}>
      <ClientInputs form={form} />
      <Hint>{t.editHint}</Hint>
    </FormDialog>
  );
};

/** Every replacement has a name, as every client. */
const Replacement = ReplaceApiClient.extend({ name: ChangeApiClient.shape.name });

/** The old key does not outlive the last day it had. */
const noteOn = ({ expiresAt }: ApiClientView, lastDay: string | null): string => {
  if (lastDay === null) return t.oldKeyEnded;
  const until = endOfDay(lastDay);
  return t.oldKeyWorksUntil(formatEnd(expiresAt && expiresAt < until ? expiresAt : until));
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
      title={t.replaceTitle(client.name)}
      action={t.replaceAction}
      dangerous
      onClose={onClose}
    >
      <Text>{t.replaceIntro}</Text>
      <Text>{t.replaceOrRevoke}</Text>
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
    notifyDone(t.revoked(client.name));
    onClose();
  };
  return (
    <ConfirmDialog
      title={t.revokeTitle(client.name)}
      action={t.revokeAction}
      dangerous
      disabled={collapseSpaces(typed) !== collapseSpaces(client.name)}
      send={() => api.post<ApiClientView>(`/clients/${client.id}/revoke`)}
      onDone={done}
      onClose={onClose}
    >
      <Text>{t.revokeIntro}</Text>
      <Text>{client.replacedBy ? t.revokeReplaced : t.revokeWaiting}</Text>
      <TextInput
        label={t.typeToConfirm(client.name)}
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
    shouldBlockFn: () => !window.confirm(t.leaveKeys),
    enableBeforeUnload: true,
  });
  return (
    <Modal
      opened
      onClose={onClose}
      title={t.ready(client.name)}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      size="lg"
    >
      <Stack>
        <Alert color="yellow" title={t.storeNow} icon={<TriangleAlert size={24} />}>
          {t.storeNowHint} {note}
        </Alert>
        <Keys client={client} />
        <Checkbox
          label={t.stored}
          checked={stored}
          onChange={(event) => setStored(event.currentTarget.checked)}
        />
        <Group justify="space-between">
          <Button
            component="a"
            href={`${PUBLIC_PATH}/docs/quick-start`}
            target="_blank"
            rel="noopener"
            variant="subtle"
          >
            {t.quickStart}
          </Button>
          <Button disabled={!stored} onClick={onClose}>
            {t.done}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
};

const Keys = ({ client }: { client: NewClient }) => (
  <>
    <CopyField label={t.apiKey} description={t.apiKeyHint} what={t.theApiKey} value={client.apiKey} />
    <CopyField
      label={t.secret}
      description={client.webhookUrl ? t.secretHint : t.secretHintNoUrl}
      what={t.theSecret}
      value={client.webhookSecret}
    />
    <CopyBlock
      label={t.tryIt}
      description={t.tryItHint}
      what={t.theCommand}
      value={firstCallWith(client.apiKey)}
    />
  </>
);
