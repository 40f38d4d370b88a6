import { Alert, Button, Group, Radio, Stack, Textarea, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { useApiForm } from '../../ui/forms/api-form.ts';
import type { Kind } from '../kinds.ts';
import { moveSchema } from './move-schemas.ts';
import type { MoveBody, MoveField, StaffMove } from './moves.ts';

interface Props {
  kind: Kind;
  move: Pick<StaffMove<never>, 'action' | 'label' | 'fields' | 'isRejection'>;
  initialValues: Record<string, string>;
  /** Shown before the fields. */
  children?: ReactNode;
  onSend(body: MoveBody): Promise<unknown>;
  onCancel(): void;
}

export const MoveForm = ({ kind, move, initialValues, children, onSend, onCancel }: Props) => {
  const { form, submit, busy, failure } = useApiForm({
    schema: moveSchema(kind, move.action),
    initialValues,
    send: (body) => onSend(body as MoveBody),
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        {children}
        {failure ? (
          <Alert color="red" role="alert">
            {failure.message}
          </Alert>
        ) : null}
        {move.fields.map((field, index) => (
          <Field key={field.name} field={field} first={index === 0} input={form.getInputProps(field.name)} />
        ))}
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
          <Button
            type="submit"
            loading={busy}
            color={move.isRejection ? 'red' : undefined}
            data-autofocus={move.fields.length === 0 || undefined}
          >
            {move.label}
          </Button>
        </Group>
      </Stack>
    </form>
  );
};

const Field = ({ field, first, input }: { field: MoveField; first: boolean; input: object }) => {
  const { label, description, required } = field;
  const props = { label, description, required, ...input };
  if (field.as === 'line') return <TextInput {...props} data-autofocus={first || undefined} />;
  if (field.as === 'text')
    return <Textarea {...props} autosize minRows={2} maxRows={8} data-autofocus={first || undefined} />;
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
