import { Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { z } from 'zod';
import { type ApiClientView, ChangeApiClient, type NewApiClientView } from '../../../contract/admin.ts';
import { api } from '../api.ts';
import { clientsQuery } from '../shop-queries.ts';
import { useApiForm } from '../ui/forms/api-form.ts';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { ClientInputs } from './client-inputs.tsx';
import { NewKeysDialog } from './new-keys-dialog.tsx';

interface Props {
  client: ApiClientView;
  onClose: () => void;
}

export const ReplaceClientDialog = ({ client, onClose }: Props) => {
  const queryClient = useQueryClient();
  const [created, setCreated] = useState<z.infer<typeof NewApiClientView> | null>(null);
  const { form, submit, busy, failure } = useApiForm({
    schema: ChangeApiClient,
    initialValues: { name: client.name, webhookUrl: client.webhookUrl ?? '' },
    // The service takes over what is left out, as it is then.
    send: ({ name, webhookUrl }) =>
      api.post<z.infer<typeof NewApiClientView>>(`/clients/${client.id}/replace`, {
        ...(name === client.name ? {} : { name }),
        ...(webhookUrl === client.webhookUrl ? {} : { webhookUrl }),
      }),
    onDone: (replacement) => {
      setCreated(replacement);
      void queryClient.invalidateQueries({ queryKey: clientsQuery.queryKey });
    },
  });
  if (created)
    return <NewKeysDialog client={created} note="The old key has stopped working." onClose={onClose} />;
  return (
    <FormDialog
      title={`Replace ${client.name}?`}
      action="Replace client"
      dangerous
      busy={busy}
      failure={failure}
      onSubmit={submit}
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
