import {
  ActionIcon,
  Badge,
  Box,
  Button,
  Card,
  Code,
  Group,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { Check, Plus, TriangleAlert, X } from 'lucide-react';
import { type ClipboardEvent, type FormEvent, useId, useState } from 'react';
import { ReplaceDangerousGoods } from '../../../contract/admin-people.ts';
import { formErrors } from '../ui/form-errors.ts';
import { isPrefixRule, matchingRule, ruleMatchingWithoutCase } from './rule-matching.ts';

const Rule = ReplaceDangerousGoods.shape.rules.element;

const faultIn = (rule: string, rules: readonly string[]): string | null => {
  const fault = formErrors(Rule, rule)[''];
  if (fault) return fault;
  const meant = rule.trim();
  if (rules.includes(meant)) return `${meant} is in the list already.`;
  const whole = ReplaceDangerousGoods.safeParse({ rules: [meant, ...rules] });
  return whole.success ? null : 'The list holds as many rules as it can.';
};

interface AddProps {
  rules: readonly string[];
  onAdd: (rules: string[]) => void;
}

/** One rule, or a column pasted from elsewhere. */
export const AddRules = ({ rules, onAdd }: AddProps) => {
  const [typed, setTyped] = useState('');
  const [tried, setTried] = useState(false);
  const fault = typed === '' && !tried ? null : faultIn(typed, rules);

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setTried(true);
    if (faultIn(typed, rules)) return;
    onAdd([Rule.parse(typed)]);
    setTyped('');
    setTried(false);
  };
  const paste = (event: ClipboardEvent) => {
    const lines = event.clipboardData.getData('text').split(/[\r\n\t,;]+/);
    const fresh = [...new Set(lines.map((line) => line.trim()))].filter(
      (line) => line && !rules.includes(line),
    );
    if (lines.length < 2 || fresh.length === 0 || fresh.some((line) => faultIn(line, rules))) return;
    event.preventDefault();
    onAdd(fresh);
  };
  return (
    <form onSubmit={submit} noValidate>
      <Group align="flex-start" gap="xs" wrap="nowrap">
        <TextInput
          flex={1}
          label="Add a sku, or a beginning with a star"
          description="Several at once can be pasted, one on each line."
          inputWrapperOrder={['label', 'description', 'input', 'error']}
          placeholder="BATT-*"
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => {
            setTyped(event.currentTarget.value);
            setTried(false);
          }}
          onPaste={paste}
          error={fault}
        />
        <Button type="submit" variant="default" mt={44} leftSection={<Plus size={16} aria-hidden />}>
          Add
        </Button>
      </Group>
    </form>
  );
};

const meaningOf = (rule: string): string => {
  if (rule === '*') return 'Every sku there is';
  return isPrefixRule(rule) ? `Every sku that begins with ${rule.slice(0, -1)}` : 'Exactly this sku';
};

interface ListProps {
  rules: readonly string[];
  added: ReadonlySet<string>;
  onRemove: (rule: string) => void;
}

export const RuleList = ({ rules, added, onRemove }: ListProps) => (
  <Box role="region" aria-label="Rules" tabIndex={0} mah={460} style={{ overflowY: 'auto' }}>
    <Stack component="ul" gap={0} m={0} p={0} style={{ listStyle: 'none' }}>
      {rules.map((rule) => (
        <Group
          key={rule}
          component="li"
          wrap="nowrap"
          justify="space-between"
          py={6}
          style={{ borderBottom: '1px solid var(--mantine-color-default-border)' }}
        >
          <div>
            <Group gap="xs">
              <Text ff="monospace" component="span">
                {rule}
              </Text>
              {added.has(rule) ? <Badge variant="default">Not saved yet</Badge> : null}
            </Group>
            <Text size="sm" c="dimmed">
              {meaningOf(rule)}
            </Text>
          </div>
          <ActionIcon
            variant="default"
            size="lg"
            aria-label={`Remove ${rule}`}
            onClick={() => onRemove(rule)}
          >
            <X size={16} aria-hidden />
          </ActionIcon>
        </Group>
      ))}
    </Stack>
  </Box>
);

export const SkuTester = ({ rules, unsaved }: { rules: readonly string[]; unsaved: boolean }) => {
  const [sku, setSku] = useState('');
  const id = useId();
  return (
    <Card withBorder component="section" aria-labelledby={id}>
      <Stack gap="sm">
        <Title order={3} size="h4" id={id}>
          Would this sku be dangerous?
        </Title>
        <TextInput
          label="Sku to try"
          placeholder="BATT-18V-4AH"
          autoComplete="off"
          spellCheck={false}
          value={sku}
          onChange={(event) => setSku(event.currentTarget.value)}
        />
        <Box component="output" aria-live="polite" mih={48}>
          {sku.trim() === '' ? null : <Verdict rules={rules} sku={sku.trim()} />}
        </Box>
        {unsaved ? (
          <Text size="sm" c="dimmed">
            Tried against the list as you see it, changes that are not saved included.
          </Text>
        ) : null}
      </Stack>
    </Card>
  );
};

const Verdict = ({ rules, sku }: { rules: readonly string[]; sku: string }) => {
  const rule = matchingRule(rules, sku);
  const near = rule === undefined ? ruleMatchingWithoutCase(rules, sku) : undefined;
  return (
    <Group wrap="nowrap" align="flex-start" gap="xs">
      {rule === undefined ? <Check size={20} aria-hidden /> : <TriangleAlert size={20} aria-hidden />}
      <span>
        {rule === undefined ? (
          <>
            <b>No.</b> No rule fits it.
          </>
        ) : (
          <>
            <b>Yes, dangerous.</b> It fits <Code>{rule}</Code>.
          </>
        )}
        {near === undefined ? null : (
          <>
            {' '}
            <Code>{near}</Code> would, but for upper and lower case.
          </>
        )}
      </span>
    </Group>
  );
};
