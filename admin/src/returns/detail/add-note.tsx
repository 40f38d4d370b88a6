import { Group, Stack, Textarea } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { AddNote as NoteBody } from '../../../../contract/admin.ts';
import { api } from '../../api.ts';
import { BlockableButton, useBlocked } from '../../session/blocked.tsx';
import { useApiForm } from '../../ui/forms/api-form.ts';
import { ErrorAlert } from '../../ui/query-view.tsx';
import { useDraft } from '../draft.tsx';
import type { Kind } from '../kinds.ts';
import { detailQuery, timelineQuery } from '../queries.ts';

const EMPTY = { note: '' };

/** A note for colleagues. It sends no webhook event. What is half-written stays until it is added or deleted. */
export const AddNote = ({ kind, id }: { kind: Kind; id: string }) => {
  const { changing } = useBlocked();
  const queryClient = useQueryClient();
  const { draft, stored } = useDraft<typeof EMPTY>(`note.${id}`);
  const { form, onSubmit, resetTo, busy, failure } = useApiForm({
    schema: NoteBody,
    initialValues: stored ?? EMPTY,
    onChange: (values) => (values.note === '' ? draft.clear() : draft.write(values)),
    send: (body) => api.post(`${kind.path}/${id}/notes`, body),
    onDone: (answer) => {
      draft.clear();
      resetTo(EMPTY);
      queryClient.setQueryData(detailQuery(kind, id).queryKey, answer);
      return queryClient.invalidateQueries({ queryKey: timelineQuery(kind, id).queryKey });
    },
  });
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack gap="xs">
        {failure ? <ErrorAlert title="Not added yet; what you typed is kept" error={failure} /> : null}
        <Textarea
          aria-label="Add a note"
          placeholder="A note for your colleagues"
          autosize
          minRows={1}
          maxRows={8}
          {...form.getInputProps('note')}
        />
        <Group justify="flex-end">
          <BlockableButton
            blocked={changing}
            type="submit"
            size="xs"
            variant="default"
            loading={busy}
            disabled={form.values.note.trim() === ''}
          >
            Add note
          </BlockableButton>
        </Group>
      </Stack>
    </form>
  );
};
