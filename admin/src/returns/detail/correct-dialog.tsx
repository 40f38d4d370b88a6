import { Stack, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { CorrectOfflineRepair, CorrectTradeReturn } from '../../../../contract/admin-returns.ts';
import { ApiError, api } from '../../api.ts';
import { useApiForm } from '../../ui/forms/api-form.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { notifyDone } from '../../ui/notify.ts';
import { Hint } from '../../ui/two-lines.tsx';
import { correctionDraftName, DraftNotice, useDialogDraft } from '../draft.tsx';
import { type AnyReturn, CORRECTED_LABELS, type Kind, REPAIRS } from '../kinds.ts';
import { detailQuery, refetchReturns } from '../queries.ts';

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

const CORRECTED_MEANWHILE =
  'Somebody else corrected this meanwhile; the timeline shows what. Save once more to put yours in its place.';

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
        throw new Error(CORRECTED_MEANWHILE);
      }
    },
    onDone: (answer) => {
      queryClient.setQueryData(detailQuery<AnyReturn>(kind, item.id).queryKey, answer);
      notifyDone(`${item.rmaNumber}: corrected`);
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
      title={`Correct details: ${props.item.rmaNumber}`}
      action="Save"
      disabled={Object.keys(changed(before, form.values)).length === 0}
      onClose={draft.closeForNow}
      onCancel={draft.cancel}
    >
      <Hint>For typing errors. The timeline keeps what was there before; no program is told.</Hint>
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
