import { Button, Checkbox, Group, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { z } from 'zod';
import type { SavedView } from '../../../../contract/admin-work.ts';
import { text } from '../../../../contract/fields.ts';
import { api } from '../../api.ts';
import type { ListSearch } from '../../list-search.ts';
import { useSession } from '../../session/session.ts';
import { texts } from '../../texts.ts';
import { useApiForm } from '../../ui/forms/api-form.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { notifyDone, notifyFailed } from '../../ui/notify.ts';
import type { Kind } from '../kinds.ts';
import { savedSearch, viewsQuery } from '../queries.ts';

const LONGEST_NAME = 80;
const Body = z.object({ name: text(LONGEST_NAME), shared: z.boolean() });

interface Props {
  kind: Kind;
  /** The one to change; null saves the present filters as a new one. */
  view: SavedView | null;
  search: ListSearch;
  onDeleted(): void;
  onClose(): void;
}

const useView = ({ kind, view, search, onDeleted, onClose }: Props) => {
  const queryClient = useQueryClient();
  const refetch = () => queryClient.invalidateQueries({ queryKey: viewsQuery.queryKey });
  const { form, ...saving } = useApiForm({
    schema: Body,
    initialValues: { name: view?.name ?? '', shared: view?.shared ?? false },
    send: (body) =>
      view
        ? api.patch<SavedView>(`/views/${view.id}`, body)
        : api.post<SavedView>('/views', { ...body, kind: kind.savedKind, search: savedSearch(kind, search) }),
    onDone: async ({ name }) => {
      await refetch();
      notifyDone(texts.list.viewSaved(name));
      onClose();
    },
  });
  const remove = useMutation({
    mutationFn: (id: string) => api.delete(`/views/${id}`),
    onSuccess: async () => {
      // The list goes on first: the dialog gives the focus back to what is there then.
      onDeleted();
      await refetch();
      onClose();
    },
    onError: (error) => notifyFailed(texts.list.viewNotDeleted, error),
  });
  return { form, saving, remove };
};

export const ViewDialog = (props: Props) => {
  const { view, onClose } = props;
  const { user } = useSession();
  const { form, saving, remove } = useView(props);
  return (
    <FormDialog
      {...saving}
      title={view ? texts.list.editView : texts.list.saveView}
      action={texts.list.save}
      onClose={onClose}
    >
      <TextInput
        label={texts.list.viewName}
        description={view ? undefined : texts.list.viewHelp}
        data-autofocus
        maxLength={LONGEST_NAME}
        key={form.key('name')}
        {...form.getInputProps('name')}
      />
      {user.role === 'ADMIN' ? (
        <Checkbox
          label={texts.list.viewShared}
          key={form.key('shared')}
          {...form.getInputProps('shared', { type: 'checkbox' })}
        />
      ) : null}
      {view ? (
        <Group>
          <Button
            variant="subtle"
            color="red.8"
            size="xs"
            loading={remove.isPending}
            onClick={() => remove.mutate(view.id)}
          >
            {texts.list.deleteView}
          </Button>
        </Group>
      ) : null}
    </FormDialog>
  );
};
