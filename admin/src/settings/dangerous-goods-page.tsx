import {
  ActionIcon,
  Alert,
  Badge,
  Box,
  Button,
  Code,
  EmptyState,
  Grid,
  Group,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Check, Plus, TriangleAlert, X } from 'lucide-react';
import { type ClipboardEvent, type FormEvent, useState } from 'react';
import { type DangerousGoods, ReplaceDangerousGoods } from '../../../contract/admin-people.ts';
import { api } from '../api.ts';
import { formErrors } from '../ui/forms/form-errors.ts';
import { notifyDone } from '../ui/notify.ts';
import { PageFrame, Section, useUnsavedWarning } from '../ui/page-frame.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { Hint } from '../ui/two-lines.tsx';

const rulesQuery = queryOptions({
  queryKey: ['dangerous-goods'],
  queryFn: () => api.get<DangerousGoods>('/dangerous-goods'),
});

export const DangerousGoodsPage = () => {
  const saved = useQuery(rulesQuery);
  return (
    <PageFrame
      title="Dangerous goods"
      intro={
        <>
          A repair whose faulty item fits one of these rules is marked as dangerous goods when it is created.
          A rule is an exact SKU, or a beginning followed by a star: <Code>BATT-*</Code> is every SKU that
          begins with BATT-. Upper and lower case differ.
        </>
      }
    >
      <QueryView query={saved}>{({ rules }) => <Editor saved={rules} />}</QueryView>
    </PageFrame>
  );
};

const difference = (some: readonly string[], others: readonly string[]): string[] => {
  const known = new Set(others);
  return some.filter((rule) => !known.has(rule));
};

const useSaveRules = (onSaved: () => void) => {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (rules: string[]) => api.put<DangerousGoods>('/dangerous-goods', { rules }),
    onSuccess: (answer) => {
      queryClient.setQueryData(rulesQuery.queryKey, answer);
      onSaved();
      notifyDone('The rules are saved.');
    },
  });
};

const Editor = ({ saved }: { saved: string[] }) => {
  /** The edited rules; null while nothing is changed. */
  const [draft, setDraft] = useState<string[] | null>(null);
  const rules = draft ?? saved;
  const added = difference(rules, saved);
  const removed = difference(saved, rules);
  const changes = added.length + removed.length;

  const saving = useSaveRules(() => setDraft(null));
  useUnsavedWarning(changes > 0, 'rules');

  return (
    <Grid gap="xl">
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Stack>
          <AddRules rules={rules} onAdd={(more) => setDraft([...more, ...rules])} />
          {rules.length === 0 ? (
            <EmptyState
              icon={<TriangleAlert aria-hidden />}
              title="There are no rules"
              description="No repair is marked as dangerous goods."
            />
          ) : (
            <RuleList
              rules={rules}
              added={new Set(added)}
              onRemove={(rule) => setDraft(rules.filter((other) => other !== rule))}
            />
          )}
          {saving.error ? (
            <Alert color="red" role="alert" title="The rules are not saved">
              {saving.error.message}
            </Alert>
          ) : null}
          <Group aria-live="polite">
            <Button disabled={changes === 0} loading={saving.isPending} onClick={() => saving.mutate(rules)}>
              Save rules
            </Button>
            {changes > 0 ? (
              <Button variant="default" onClick={() => setDraft(null)}>
                Discard changes
              </Button>
            ) : null}
            {added.length > 0 ? <Badge variant="default">{added.length} added</Badge> : null}
            {removed.length > 0 ? <Badge variant="default">{removed.length} removed</Badge> : null}
          </Group>
          <Hint>Rules count from the next repair on; what was handed in before stays as it is.</Hint>
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <SkuTester rules={rules} unsaved={changes > 0} />
      </Grid.Col>
    </Grid>
  );
};

// Matches a sku as the service does: a rule is an exact sku, or a prefix that ends in `*`; elsewhere a `*` is an ordinary character.

const isPrefixRule = (rule: string): boolean => rule.endsWith('*');

const matches = (rule: string, sku: string): boolean =>
  rule === sku || (isPrefixRule(rule) && sku.startsWith(rule.slice(0, -1)));

const matchingRule = (rules: readonly string[], sku: string): string | undefined =>
  rules.find((rule) => matches(rule, sku));

/** A rule that differs from the sku in upper and lower case only: probably a typing error. */
const ruleMatchingWithoutCase = (rules: readonly string[], sku: string): string | undefined =>
  rules.find((rule) => matches(rule.toLowerCase(), sku.toLowerCase()));

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

const AddRules = ({ rules, onAdd }: Props) => {
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

const meaningOf = (rule: string): string => {
  if (rule === '*') return 'Every SKU there is';
  return isPrefixRule(rule) ? `Every SKU that begins with ${rule.slice(0, -1)}` : 'Exactly this SKU';
};

interface RuleListProps {
  rules: readonly string[];
  added: ReadonlySet<string>;
  onRemove: (rule: string) => void;
}

const RuleList = ({ rules, added, onRemove }: RuleListProps) => (
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
            <Hint>{meaningOf(rule)}</Hint>
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

const SkuTester = ({ rules, unsaved }: { rules: readonly string[]; unsaved: boolean }) => {
  const [sku, setSku] = useState('');
  return (
    <Section title="Would this SKU be dangerous?" size="h4">
      <Stack gap="sm">
        <TextInput
          label="SKU to try"
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
          <Hint>Tried against the list as you see it, changes that are not saved included.</Hint>
        ) : null}
      </Stack>
    </Section>
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
