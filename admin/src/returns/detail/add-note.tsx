import { Alert, Button, Group, Stack, Textarea } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { AddNote as NoteBody } from '../../../../contract/admin.ts';
import { api } from '../../api.ts';
import { useApiForm } from '../../ui/forms/api-form.ts';
import type { Kind } from '../kinds.ts';
import { detailQuery, timelineQuery } from '../queries.ts';

/** A note for colleagues. It sends no webhook event. */
export const AddNote = ({ kind, id }: { kind: Kind; id: string }) => {
  const queryClient = useQueryClient();
  const { form, submit, busy, failure } = useApiForm({
    schema: NoteBody,
    initialValues: { note: '' },
    send: (body) => api.post(`${kind.path}/${id}/notes`, body),
    onDone: (answer) => {
      form.reset();
      queryClient.setQueryData(detailQuery(kind, id).queryKey, answer);
      return queryClient.invalidateQueries({ queryKey: timelineQuery(kind, id).queryKey });
    },
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="xs">
        {failure ? (
          <Alert color="red" role="alert">
            {failure.message}
          </Alert>
        ) : null}
        <Textarea
          aria-label="Add a note"
          placeholder="A note for your colleagues"
          autosize
          minRows={1}
          maxRows={8}
          {...form.getInputProps('note')}
        />
        <Group justify="flex-end">
          <Button
            type="submit"
            size="xs"
            variant="default"
            loading={busy}
            disabled={form.values.note.trim() === ''}
          >
            Add note
          </Button>
        </Group>
      </Stack>
    </form>
  );
};
