import { Alert, Button, Group, Stack, Textarea } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { AddNote as NoteBody } from '../../../contract/admin.ts';
import { api } from '../api.ts';
import { detailQuery, type Kind, timelineQuery } from './kinds.ts';
import { useSchemaForm } from './use-schema-form.ts';

/** A remark for the colleagues; nobody outside is told. */
export const AddNote = ({ kind, id }: { kind: Kind; id: string }) => {
  const queryClient = useQueryClient();
  const { form, focusFirst, refused } = useSchemaForm({
    schema: NoteBody,
    initialValues: { note: '' },
    bodyOf: (values) => values,
  });
  const add = useMutation({
    mutationFn: (body: { note: string }) => api.post(`${kind.path}/${id}/notes`, body),
    onSuccess: (answer) => {
      form.reset();
      queryClient.setQueryData(detailQuery(kind, id).queryKey, answer);
      return queryClient.invalidateQueries({ queryKey: timelineQuery(kind, id).queryKey });
    },
    onError: (error) => refused(error),
  });
  return (
    <form onSubmit={form.onSubmit((values) => add.mutate(values), focusFirst)} noValidate>
      <Stack gap="xs">
        {add.error ? (
          <Alert color="red" role="alert">
            {add.error.message}
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
            loading={add.isPending}
            disabled={form.values.note.trim() === ''}
          >
            Add note
          </Button>
        </Group>
      </Stack>
    </form>
  );
};
