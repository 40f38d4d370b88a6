import { Stack, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { CorrectOfflineRepair, CorrectTradeReturn } from '../../../../contract/admin-returns.ts';
import { api } from '../../api.ts';
import { useDraft } from '../../session/use-draft.ts';
import { useApiForm } from '../../ui/forms/api-form.ts';
import { DraftNotice } from '../../ui/forms/draft-notice.tsx';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { notifyDone } from '../../ui/notify.ts';
import { type AnyReturn, type Kind, REPAIRS } from '../kinds.ts';
import { detailQuery, refetchReturns } from '../queries.ts';
import { CORRECTED_LABELS } from './corrected-fields.ts';

type Field = keyof typeof CORRECTED_LABELS;
type Values = Partial<Record<Field, string>>;

/** What may be corrected, with its present value. */
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

/** Puts typing errors right: of the customer, the company, or the serial number. */
export const CorrectDialog = ({ kind, item, onClose }: Props) => {
  const queryClient = useQueryClient();
  const { draft, stored } = useDraft<Values>(`correct.${item.id}`);
  const [before] = useState(() => presentValues(item));
  const [seen] = useState(item.updatedAt);
  const [isFromDraft, setFromDraft] = useState(stored !== null);
  const { form, submit, busy, failure } = useApiForm({
    schema: kind === REPAIRS ? CorrectOfflineRepair : CorrectTradeReturn,
    initialValues: { ...before, ...stored },
    bodyOf: (values: Values) => ({ ...changed(before, values), seen }),
    onChange: draft.write,
    // The schema reads `seen` as a time; the service wants it as it was.
    send: (body) => api.post<AnyReturn>(`${kind.path}/${item.id}/correct`, { ...body, seen }),
    onDone: (answer) => {
      draft.clear();
      queryClient.setQueryData(detailQuery<AnyReturn>(kind, item.id).queryKey, answer);
      notifyDone(`${item.rmaNumber}: corrected`);
      onClose();
      return refetchReturns(queryClient, kind);
    },
  });
  const startOver = () => {
    form.setValues(before);
    draft.clear();
    setFromDraft(false);
  };
  return (
    <FormDialog
      title={`Correct details: ${item.rmaNumber}`}
      action="Save"
      busy={busy}
      disabled={Object.keys(changed(before, form.values)).length === 0}
      failure={failure}
      onSubmit={submit}
      onClose={onClose}
    >
      <Text size="sm" c="dimmed">
        For typing errors. The timeline keeps what was there before; no program is told.
      </Text>
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
