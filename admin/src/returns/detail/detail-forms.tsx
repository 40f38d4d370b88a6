import { Group, Modal, Stack, Textarea, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { AddNote as NoteBody } from '../../../../contract/admin.ts';
import { CorrectOfflineRepair, CorrectTradeReturn } from '../../../../contract/admin-returns.ts';
import { ApiError, api } from '../../api.ts';
import { BlockableButton, useBlocked } from '../../session/blocked.tsx';
import { texts } from '../../texts.ts';
import { useApiForm } from '../../ui/forms/api-form.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { notifyDone } from '../../ui/notify.ts';
import { ErrorAlert } from '../../ui/query-view.tsx';
import { Hint } from '../../ui/two-lines.tsx';
import { correctionDraftName, DraftNotice, useDialogDraft, useDraft } from '../draft.tsx';
import { type AnyReturn, CORRECTED_LABELS, type Kind, noteFieldId, REPAIRS } from '../kinds.ts';
import { detailQuery, refetchReturns, timelineQuery } from '../queries.ts';

const words = texts.detail;

const EMPTY = { note: '' };

interface NoteProps {
  kind: Kind;
  id: string;
  onAdded?: () => void;
}

/** A note for colleagues. It sends no webhook event. What is half-written stays until it is added or deleted. */
export const AddNote = ({ kind, id, onAdded }: NoteProps) => {
  const blocked = useBlocked();
  const queryClient = useQueryClient();
  const { draft, stored } = useDraft<typeof EMPTY>(`note.${id}`);
  const { form, onSubmit, resetTo, busy, failure } = useApiForm({
    schema: NoteBody,
    initialValues: stored ?? EMPTY,
    onChange: (values) => (values.note === '' ? draft.clear() : draft.write(values)),
    send: (body) => api.post(`${kind.path}/${id}/notes`, body),
    onDone: (result) => {
      draft.clear();
      resetTo(EMPTY);
      queryClient.setQueryData(detailQuery(kind, id).queryKey, result);
      onAdded?.();
      return queryClient.invalidateQueries({ queryKey: timelineQuery(kind, id).queryKey });
    },
  });
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack gap="xs">
        {failure ? <ErrorAlert title={words.noteNotAdded} error={failure} /> : null}
        <Textarea
          id={noteFieldId(id)}
          aria-label={words.addANote}
          placeholder={words.notePlaceholder}
          data-autofocus={onAdded ? true : undefined}
          maxRows={8}
          {...form.getInputProps('note')}
        />
        <Group justify="flex-end">
          <BlockableButton
            blocked={blocked}
            type="submit"
            size="xs"
            variant="default"
            loading={busy}
            disabled={form.values.note.trim() === ''}
          >
            {words.addNote}
          </BlockableButton>
        </Group>
      </Stack>
    </form>
  );
};

interface NoteDialogProps extends Omit<NoteProps, 'onAdded'> {
  rmaNumber: string;
  onClose(): void;
}

/** The same where the return is not on the page. */
export const NoteDialog = ({ rmaNumber, onClose, ...note }: NoteDialogProps) => (
  <Modal opened onClose={onClose} title={words.noteTitle(rmaNumber)} closeOnClickOutside={false}>
    <AddNote
      {...note}
      onAdded={() => {
        notifyDone(words.noteAdded(rmaNumber));
        onClose();
      }}
    />
  </Modal>
);

type Field = keyof typeof CORRECTED_LABELS;
type Values = Record<string, string>;

const presentValues = (item: AnyReturn): Values => ({
  ...('companyName' in item ? { companyName: item.companyName } : {}),
  customerName: item.customerName,
  customerEmail: item.customerEmail,
  customerPhone: item.customerPhone ?? '',
  ...('faultyItem' in item ? { serialNumber: item.faultyItem.serialNumber ?? '' } : {}),
});

const changed = (before: Values, after: Values): Values =>
  Object.fromEntries(
    (Object.entries(after) as [Field, string][]).filter(([field, value]) => value.trim() !== before[field]),
  );

interface Props {
  kind: Kind;
  item: AnyReturn;
  onClose(): void;
}

const useCorrection = ({ kind, item, onClose }: Props) => {
  const queryClient = useQueryClient();
  const draft = useDialogDraft(correctionDraftName(item.id), item.updatedAt, onClose);
  const [before] = useState(() => presentValues(item));
  const [seen, setSeen] = useState(draft.seen);
  const [isFromDraft, setFromDraft] = useState(draft.stored !== null);
  /** Only what differs: what a colleague corrects meanwhile must not come back with the rest. */
  const keep = (values: Values) => {
    const corrections = changed(before, values);
    if (Object.keys(corrections).length === 0) draft.forget();
    else draft.keep(corrections);
  };
  const { form, resetTo, ...saving } = useApiForm({
    schema: kind === REPAIRS ? CorrectOfflineRepair : CorrectTradeReturn,
    initialValues: { ...before, ...draft.stored },
    bodyOf: (values: Values) => ({ ...changed(before, values), seen }),
    onChange: keep,
    send: async (body) => {
      try {
        // The schema reads `seen` as a time; the service wants it as it was.
        return await api.post<AnyReturn>(`${kind.path}/${item.id}/correct`, { ...body, seen });
      } catch (error) {
        if (!(error instanceof ApiError) || error.body?.code !== 'EDIT_CONFLICT') throw error;
        const now = await queryClient.fetchQuery({ ...detailQuery<AnyReturn>(kind, item.id), staleTime: 0 });
        setSeen(now.updatedAt);
        throw new Error(words.correctedMeanwhile);
      }
    },
    onDone: (result) => {
      queryClient.setQueryData(detailQuery<AnyReturn>(kind, item.id).queryKey, result);
      notifyDone(words.corrected(item.rmaNumber));
      draft.cancel();
      return refetchReturns(queryClient, kind);
    },
  });
  const startOver = () => {
    resetTo(before);
    draft.forget();
    setFromDraft(false);
  };
  return { before, form, saving, draft, isFromDraft, startOver };
};

export const CorrectDialog = (props: Props) => {
  const { before, form, saving, draft, isFromDraft, startOver } = useCorrection(props);
  return (
    <FormDialog
      {...saving}
      title={words.correctTitle(props.item.rmaNumber)}
      action={words.save}
      disabled={Object.keys(changed(before, form.values)).length === 0}
      onClose={draft.closeForNow}
      onCancel={draft.cancel}
    >
      <Hint>{words.correctHint}</Hint>
      {isFromDraft ? <DraftNotice onStartOver={startOver} /> : null}
      <Stack gap="sm">
        {(Object.keys(before) as Field[]).map((field, index) => (
          <TextInput
            key={field}
            label={CORRECTED_LABELS[field]}
            data-autofocus={index === 0 || undefined}
            {...form.getInputProps(field)}
          />
        ))}
      </Stack>
    </FormDialog>
  );
};
