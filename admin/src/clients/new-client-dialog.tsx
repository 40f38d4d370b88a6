import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { z } from 'zod';
import { CreateApiClient, type NewApiClientView } from '../../../contract/admin.ts';
import { api } from '../api.ts';
import { clientsQuery } from '../shop-queries.ts';
import { useApiForm } from '../ui/forms/api-form.ts';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { ClientInputs } from './client-inputs.tsx';
import { NewKeysDialog } from './new-keys-dialog.tsx';

type NewClient = z.infer<typeof NewApiClientView>;

export const NewClientDialog = ({ onClose }: { onClose: () => void }) => {
  const queryClient = useQueryClient();
  const [created, setCreated] = useState<NewClient | null>(null);
  const { form, submit, busy, failure } = useApiForm({
    schema: CreateApiClient,
    initialValues: { name: '', webhookUrl: '' },
    send: (body) => api.post<NewClient>('/clients', body),
    onDone: (client) => {
      setCreated(client);
      void queryClient.invalidateQueries({ queryKey: clientsQuery.queryKey });
    },
  });
  if (created) return <NewKeysDialog client={created} onClose={onClose} />;
  return (
    <FormDialog
      title="New API client"
      action="Create client"
      busy={busy}
      failure={failure}
      onSubmit={submit}
      onClose={onClose}
    >
      <ClientInputs inputProps={form.getInputProps} />
    </FormDialog>
  );
};
