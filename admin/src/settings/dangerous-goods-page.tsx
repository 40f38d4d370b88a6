import '@mantine/core/styles/Grid.css';
import { ActionIcon, Box, Button, Grid, Group, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Check, Plus, TriangleAlert, X } from 'lucide-react';
import { type ClipboardEvent, type FormEvent, useState } from 'react';
import { type DangerousGoods, ReplaceDangerousGoods } from '../../../contract/admin-people.ts';
import { api } from '../api.ts';
import { getQuery } from '../shop-queries.ts';
import { texts } from '../texts.ts';
import { EmptyState } from '../ui/empty-state.tsx';
import { formErrors } from '../ui/forms/form-errors.ts';
import { notify } from '../ui/notify.ts';
import { PageFrame, Section } from '../ui/page-frame.tsx';
import { ErrorAlert, QueryView } from '../ui/query-view.tsx';
import { Hint } from '../ui/two-lines.tsx';

const t = texts.settings;

const rulesQuery = getQuery<DangerousGoods>('dangerous-goods');

export const DangerousGoodsPage = () => {
  const saved = useQuery(rulesQuery);
  return (
    <PageFrame title={t.dangerous} intro={`${t.dangerousIntro} ${t.dangerousNew}`}>
      <QueryView query={saved}>{({ rules }) => <Editor rules={rules} />}</QueryView>
    </PageFrame>
  );
};

/** Each change is saved at once, on top of what is stored then: a colleague may be changing other rules. */
const useChangeRules = () => {
  const queryClient = useQueryClient();
  const change = useMutation({
    mutationFn: async ({ added = [], removed }: { added?: string[]; removed?: string }) => {
      const { rules } = await api.get<DangerousGoods>('/dangerous-goods');
      const kept = rules.filter((rule) => rule !== removed && !added.includes(rule));
      return api.put<DangerousGoods>('/dangerous-goods', { rules: [...added, ...kept] });
    },
    onSuccess: (result, { added, removed }) => {
      queryClient.setQueryData(rulesQuery.queryKey, result);
      if (added) void notify({ message: t.ruleAdded(added.length, added[0] ?? '') });
      if (removed)
        void notify({
          message: t.ruleRemoved(removed),
          actions: [{ label: t.undo, run: () => change.mutate({ added: [removed] }) }],
        });
    },
  });
  return change;
};

const Editor = ({ rules }: { rules: string[] }) => {
  const change = useChangeRules();
  return (
    <Grid gap="xl">
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Section title={t.rules}>
          <Stack>
            <AddRules rules={rules} busy={change.isPending} onAdd={(added) => change.mutate({ added })} />
            {change.error ? <ErrorAlert title={t.rulesNotSaved} error={change.error} /> : null}
            {rules.length === 0 ? (
              <EmptyState title={t.noRules} description={t.noRulesHint} />
            ) : (
              <RuleList rules={rules} onRemove={(removed) => change.mutate({ removed })} />
            )}
          </Stack>
        </Section>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <SkuTester rules={rules} />
      </Grid.Col>
    </Grid>
  );
};

// Matches a sku as the service does: a rule is an exact sku, or a prefix that ends in `*`; elsewhere a `*` is an ordinary character.

const isPrefixRule = (rule: string): boolean => rule.endsWith('*');

const matches = (rule: string, sku: string): boolean =>
  rule === sku || (isPrefixRule(rule) && sku.startsWith(rule.slice(0, -1)));

const Rule = ReplaceDangerousGoods.shape.rules.element;

const errorOf = (rule: string, rules: readonly string[]): string | null => {
  const error = formErrors(Rule, rule)[''];
  if (error) return error;
  const trimmed = rule.trim();
  if (rules.includes(trimmed)) return t.ruleKnown(trimmed);
  const whole = ReplaceDangerousGoods.safeParse({ rules: [trimmed, ...rules] });
  return whole.success ? null : t.rulesFull;
};

interface Props {
  rules: readonly string[];
  busy: boolean;
  onAdd: (rules: string[]) => void;
}

const AddRules = ({ rules, busy, onAdd }: Props) => {
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
      <TextInput
        label={t.addRule}
        description={t.addRuleHint}
        placeholder={t.ruleExample}
        inputContainer={(input) => (
          <Group gap="xs" wrap="nowrap" align="flex-end">
            <Box flex={1}>{input}</Box>
            <Button type="submit" loading={busy} leftSection={<Plus />}>
              {t.add}
            </Button>
          </Group>
        )}
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
    </form>
  );
};

const meaningOf = (rule: string): string => {
  if (rule === '*') return t.everySku;
  return isPrefixRule(rule) ? t.skuPrefix(rule.slice(0, -1)) : t.exactSku;
};

const RuleList = ({ rules, onRemove }: { rules: readonly string[]; onRemove: (rule: string) => void }) => (
  <Box role="group" aria-label={t.ruleList} tabIndex={0} mah={460} className="scrolls">
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
            <Text ff="monospace" size="sm" style={{ overflowWrap: 'anywhere' }}>
              {rule}
            </Text>
            <Hint>{meaningOf(rule)}</Hint>
          </div>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            aria-label={t.removeRule(rule)}
            onClick={() => onRemove(rule)}
          >
            <X />
          </ActionIcon>
        </Group>
      ))}
    </Stack>
  </Box>
);

const SkuTester = ({ rules }: { rules: readonly string[] }) => {
  const [sku, setSku] = useState('');
  return (
    <Section title={t.checkSku}>
      <Stack gap="sm">
        <TextInput
          label={t.sku}
          placeholder={t.skuExample}
          autoComplete="off"
          spellCheck={false}
          value={sku}
          onChange={(event) => setSku(event.currentTarget.value)}
        />
        <Box component="output" aria-live="polite" mih={48}>
          {sku.trim() === '' ? null : <Verdict rules={rules} sku={sku.trim()} />}
        </Box>
      </Stack>
    </Section>
  );
};

const Verdict = ({ rules, sku }: { rules: readonly string[]; sku: string }) => {
  const rule = rules.find((each) => matches(each, sku));
  // A rule that differs in upper and lower case only: probably a typing error.
  const near = rules.find((each) => matches(each.toLowerCase(), sku.toLowerCase()));
  const Icon = rule ? TriangleAlert : Check;
  return (
    <Group wrap="nowrap" align="flex-start" gap="xs">
      <Icon size={18} style={{ flex: 'none' }} />
      <Text size="sm" component="span" style={{ overflowWrap: 'anywhere' }}>
        {rule ? t.isDangerous(rule) : t.notDangerous}
        {near && !rule ? ` ${t.nearly(near)}` : ''}
      </Text>
    </Group>
  );
};
