import { Button, Group, Radio, Stack, Textarea, TextInput } from '@mantine/core';
import { type FocusEvent, type ReactNode, useState } from 'react';
import type { z } from 'zod';
import type { OfflineRepairAction, TradeReturnAction } from '../../../../contract/lifecycle.ts';
import { OfflineRepairActionBody } from '../../../../contract/offline-repair.ts';
import { TradeReturnMoveBody } from '../../../../contract/trade-return.ts';
import { texts } from '../../texts.ts';
import { useApiForm } from '../../ui/forms/api-form.ts';
import { ErrorAlert } from '../../ui/query-view.tsx';
import { DraftNotice } from '../draft.tsx';
import { type Kind, REPAIRS } from '../kinds.ts';
import { DecimalInput } from '../new/form-inputs.tsx';
import { optionalNumberOf } from '../new/read-number.ts';
import type { MoveBody, MoveField, StaffMove } from './moves.ts';

const words = texts.moves;

export const moveSchema = (kind: Kind, action: string): z.ZodType =>
  kind === REPAIRS
    ? OfflineRepairActionBody[action as OfflineRepairAction]
    : TradeReturnMoveBody[action as TradeReturnAction];

type Values = Record<string, string>;

interface Props {
  kind: Kind;
  move: Pick<StaffMove<never>, 'action' | 'label' | 'fields' | 'isRejection'>;
  initialValues: Values;
  draft?: { stored: Values | null; keep(values: Values): void; forget(): void };
  /** What others did in between, shown above the fields. */
  conflict?: { isOver: boolean } | null;
  children?: ReactNode;
  onSend(body: MoveBody): Promise<unknown>;
  onCancel(): void;
}

const bodyOf = (fields: readonly MoveField[], values: Values): object =>
  Object.fromEntries(
    fields.map(({ name, as }) => {
      const typed = values[name] ?? '';
      return [name, as === 'amount' ? optionalNumberOf(typed) : typed];
    }),
  );

export const MoveForm = (props: Props) => {
  const { kind, move, initialValues, draft, conflict, children, onSend, onCancel } = props;
  const [isFromDraft, setFromDraft] = useState(draft?.stored != null);
  const { form, onSubmit, resetTo, busy, failure } = useApiForm({
    schema: moveSchema(kind, move.action),
    initialValues: { ...initialValues, ...draft?.stored },
    bodyOf: (values) => bodyOf(move.fields, values),
    send: (body) => onSend(body as MoveBody),
    ...(draft ? { onChange: draft.keep } : {}),
  });
  const startOver = () => {
    resetTo(initialValues);
    draft?.forget();
    setFromDraft(false);
  };
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack>
        {children}
        {failure && !conflict ? <ErrorAlert title={words.notDoneYet} error={failure} /> : null}
        {isFromDraft && !conflict ? <DraftNotice onStartOver={startOver} /> : null}
        {move.fields.map((field, index) => (
          <Field key={field.name} field={field} first={index === 0} input={form.getInputProps(field.name)} />
        ))}
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            {words.cancel}
          </Button>
          {conflict?.isOver ? null : (
            <Button
              type="submit"
              loading={busy}
              color={move.isRejection ? 'red' : undefined}
              data-autofocus={move.fields.length === 0 || undefined}
            >
              {conflict ? words.continueAnyway : move.label}
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
};

/** What is typed or scanned next replaces what was there before. */
const selectAll = ({ currentTarget }: FocusEvent<HTMLInputElement>) => currentTarget.select();

const Field = ({ field, first, input }: { field: MoveField; first: boolean; input: object }) => {
  const { label, description, required } = field;
  const props = { label, description, required, ...input };
  if (field.as === 'line')
    return <TextInput {...props} onFocus={selectAll} data-autofocus={first || undefined} />;
  if (field.as === 'amount') return <DecimalInput {...props} data-autofocus={first || undefined} />;
  if (field.as === 'text')
    return <Textarea {...props} minRows={2} maxRows={8} data-autofocus={first || undefined} />;
  return (
    <Radio.Group {...props}>
      <Stack gap="xs" mt="xs">
        {field.choices?.map(({ value, label: choice, description: meaning }, index) => (
          <Radio
            key={value}
            value={value}
            label={choice}
            description={meaning}
            data-autofocus={(first && index === 0) || undefined}
          />
        ))}
      </Stack>
    </Radio.Group>
  );
};
