import { Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ApiClientView, ChangeApiClient } from '../../../contract/admin.ts';
import { api } from '../api.ts';
import { clientsQuery } from '../shop-queries.ts';
import { useApiForm } from '../ui/forms/api-form.ts';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { notifyDone } from '../ui/notify.ts';
import { ClientInputs } from './client-inputs.tsx';

interface Props {
  client: ApiClientView;
  onClose: () => void;
}

export const EditClientDialog = ({ client, onClose }: Props) => {
  const queryClient = useQueryClient();
  const { form, submit, busy, failure } = useApiForm({
    schema: ChangeApiClient,
    initialValues: { name: client.name, webhookUrl: client.webhookUrl ?? '' },
    // Only what changed here: a colleague may be changing the rest.
    send: ({ name, webhookUrl }) =>
      api.patch<ApiClientView>(`/clients/${client.id}`, {
        ...(name === client.name ? {} : { name }),
        ...(webhookUrl === client.webhookUrl ? {} : { webhookUrl }),
      }),
    onDone: (changed) => {
      void queryClient.invalidateQueries({ queryKey: clientsQuery.queryKey });
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
      <ClientInputs inputProps={form.getInputProps} />
      <Text size="sm" c="dimmed">
        Events that are still waiting go to the new URL. Key and secret stay the same.
      </Text>
    </FormDialog>
  );
};
