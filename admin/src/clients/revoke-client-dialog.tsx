import { Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { ApiClientView } from '../../../contract/admin.ts';
import { api } from '../api.ts';
import { clientsQuery } from '../shop-queries.ts';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { notifyDone } from '../ui/notify.ts';

interface Props {
  client: ApiClientView;
  onClose: () => void;
}

/** A browser shows several spaces as one, so people type one. */
const collapseSpaces = (name: string): string => name.trim().replace(/\s+/g, ' ');

export const RevokeClientDialog = ({ client, onClose }: Props) => {
  const queryClient = useQueryClient();
  const [typed, setTyped] = useState('');
  const revoking = useMutation({
    mutationFn: () => api.post<ApiClientView>(`/clients/${client.id}/revoke`),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: clientsQuery.queryKey });
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
      disabled={collapseSpaces(typed) !== collapseSpaces(client.name)}
      busy={revoking.isPending}
      failure={revoking.error}
      onSubmit={submit}
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
    </FormDialog>
  );
};
