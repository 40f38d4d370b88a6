import { Button, Group, TextInput } from '@mantine/core';
import { Plus } from 'lucide-react';
import { type ClipboardEvent, type FormEvent, useState } from 'react';
import { ReplaceDangerousGoods } from '../../../contract/admin-people.ts';
import { formErrors } from '../ui/forms/form-errors.ts';

const Rule = ReplaceDangerousGoods.shape.rules.element;

const errorOf = (rule: string, rules: readonly string[]): string | null => {
  const error = formErrors(Rule, rule)[''];
  if (error) return error;
  const trimmed = rule.trim();
  if (rules.includes(trimmed)) return `${trimmed} is in the list already.`;
  const whole = ReplaceDangerousGoods.safeParse({ rules: [trimmed, ...rules] });
  return whole.success ? null : 'The list holds as many rules as it can.';
};

interface Props {
  rules: readonly string[];
  onAdd: (rules: string[]) => void;
}

/** Adds one rule, or several that were pasted, such as a column of a spreadsheet. */
export const AddRules = ({ rules, onAdd }: Props) => {
  const [typed, setTyped] = useState('');
  const [submitted, setSubmitted] = useState(false);
  const error = typed === '' && !submitted ? null : errorOf(typed, rules);

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setSubmitted(true);
    if (errorOf(typed, rules)) return;
    onAdd([Rule.parse(typed)]);
    setTyped('');
    setSubmitted(false);
  };
  const paste = (event: ClipboardEvent) => {
    const lines = event.clipboardData.getData('text').split(/[\r\n\t,;]+/);
    const added = [...new Set(lines.map((line) => line.trim()))].filter(
      (line) => line && !rules.includes(line),
    );
    if (lines.length < 2 || added.length === 0 || added.some((line) => errorOf(line, rules))) return;
    event.preventDefault();
    onAdd(added);
  };
  return (
    <form onSubmit={submit} noValidate>
      <Group align="flex-start" gap="xs" wrap="nowrap">
        <TextInput
          flex={1}
          label="Add a SKU, or a beginning with a star"
          description="Several at once can be pasted, one on each line."
          inputWrapperOrder={['label', 'description', 'input', 'error']}
          placeholder="BATT-*"
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => {
            setTyped(event.currentTarget.value);
            setSubmitted(false);
          }}
          onPaste={paste}
          error={error}
        />
        <Button type="submit" variant="default" mt={44} leftSection={<Plus size={16} aria-hidden />}>
          Add
        </Button>
      </Group>
    </form>
  );
};
