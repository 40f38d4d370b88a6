import { Fieldset, NativeSelect, SimpleGrid, Textarea, TextInput } from '@mantine/core';
import type { MoveField } from '../returns/moves/moves.ts';
import { chooseByArrowsOnly } from '../ui/scanner.ts';
import { BENCH_KINDS, type BenchKind, type BenchMove } from './bench-moves.ts';

const CHOOSE = { value: '', label: 'Choose …' };

interface Props {
  of: BenchKind;
  /** null: none is chosen yet. */
  move: BenchMove | null;
  values: Record<string, string>;
  errors: Record<string, string>;
  onKind(of: BenchKind): void;
  onMove(move: BenchMove | null): void;
  onValue(name: string, value: string): void;
}

/** What each scan does, chosen once. */
export const JobInputs = ({ of, move, values, errors, onKind, onMove, onValue }: Props) => (
  <Fieldset legend="Each scan does this">
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm" verticalSpacing="sm">
      <NativeSelect
        label="Kind"
        data={BENCH_KINDS.map(({ kind }) => kind.title)}
        value={of.kind.title}
        onKeyDown={chooseByArrowsOnly}
        onChange={({ currentTarget: { value } }) => {
          const chosen = BENCH_KINDS.find(({ kind }) => kind.title === value);
          if (chosen) onKind(chosen);
        }}
      />
      <NativeSelect
        label="Move"
        data={[CHOOSE, ...of.moves.map(({ action, label }) => ({ value: action, label }))]}
        value={move?.action ?? ''}
        error={errors['move']}
        onKeyDown={chooseByArrowsOnly}
        onChange={({ currentTarget: { value } }) => {
          onMove(of.moves.find(({ action }) => action === value) ?? null);
        }}
      />
      {move?.fields.map((field) => (
        <Field
          key={field.name}
          field={field}
          value={values[field.name] ?? ''}
          error={errors[field.name]}
          onValue={(value) => onValue(field.name, value)}
        />
      ))}
    </SimpleGrid>
  </Fieldset>
);

interface FieldProps {
  field: MoveField;
  value: string;
  error: string | undefined;
  onValue(value: string): void;
}

const Field = ({ field, value, error, onValue }: FieldProps) => {
  const props = {
    label: field.label,
    required: field.required,
    value,
    error,
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) => onValue(currentTarget.value),
  };
  if (field.as === 'choice')
    return (
      <NativeSelect {...props} data={[CHOOSE, ...(field.choices ?? [])]} onKeyDown={chooseByArrowsOnly} />
    );
  return field.as === 'line' ? (
    <TextInput {...props} />
  ) : (
    <Textarea {...props} autosize minRows={1} maxRows={4} />
  );
};
