import '@mantine/core/styles/NumberInput.css';
import '@mantine/core/styles/Switch.css';
import { Group, NumberInput, Stack, Switch, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Forgetting, type ForgettingCount } from '../../../contract/personal-data.ts';
import { api } from '../api.ts';
import { countOf, REPAIRS, TRADE_RETURNS } from '../returns/kinds.ts';
import { getQuery } from '../shop-queries.ts';
import { texts } from '../texts.ts';
import { notifyDone } from '../ui/notify.ts';
import { Section } from '../ui/page-frame.tsx';
import { ErrorAlert, QueryError, QueryView } from '../ui/query-view.tsx';
import { SaveBar } from '../ui/save-bar.tsx';
import { returnsText } from './erasing.ts';

const t = texts.personalData;

const forgettingQuery = getQuery<Forgetting>('forgetting');

const RULES = [
  { field: 'offlineRepairMonths', figure: 'offlineRepairs', kind: REPAIRS, end: t.ends.repairs },
  { field: 'tradeReturnMonths', figure: 'tradeReturns', kind: TRADE_RETURNS, end: t.ends.tradeReturns },
] as const;
type Rule = (typeof RULES)[number];

/** An input may be empty while a person types. */
type Draft = Record<Rule['field'], number | '' | null>;

const FIRST_MONTHS = 24;
const MOST_MONTHS = 120;
const PAUSE_MS = 400;

export const ForgetByItself = () => {
  const saved = useQuery(forgettingQuery);
  return (
    <Section title={t.auto}>
      <Stack>
        <Text size="sm" c="dimmed" maw="70ch">
          {t.autoIntro}
        </Text>
        <QueryView query={saved}>{(rules) => <Editor saved={rules} />}</QueryView>
      </Stack>
    </Section>
  );
};

/** How many returns the rules would erase now; asked once the typing pauses. */
const useCount = (rules: Forgetting | null) => {
  const [counted] = useDebouncedValue(rules, PAUSE_MS);
  const count = useQuery({
    queryKey: ['forgetting', 'count', counted],
    queryFn: () => api.post<ForgettingCount>('/forgetting/count', counted),
    enabled: counted !== null,
    refetchOnWindowFocus: false,
    gcTime: 0,
  });
  const isCurrent = JSON.stringify(rules) === JSON.stringify(counted);
  return { ...count, data: isCurrent ? count.data : undefined };
};

const Editor = ({ saved }: { saved: Forgetting }) => {
  /** What was changed; null while nothing is. */
  const [draft, setDraft] = useState<Draft | null>(null);
  const rules: Draft = draft ?? saved;
  const valid = Forgetting.safeParse(rules).data ?? null;
  const isChanged = RULES.some(({ field }) => rules[field] !== saved[field]);
  const count = useCount(isChanged ? valid : null);
  const queryClient = useQueryClient();
  const saving = useMutation({
    mutationFn: (next: Forgetting) => api.put<Forgetting>('/forgetting', next),
    onSuccess: (result) => {
      queryClient.setQueryData(forgettingQuery.queryKey, result);
      setDraft(null);
      notifyDone(t.autoSaved);
    },
  });
  const total = count.data ? count.data.offlineRepairs + count.data.tradeReturns : 0;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (valid && count.data) saving.mutate(valid);
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        {RULES.map((rule) => (
          <RuleInput
            key={rule.field}
            rule={rule}
            months={rules[rule.field]}
            count={isChanged ? count.data?.[rule.figure] : undefined}
            onMonths={(months) => setDraft({ ...rules, [rule.field]: months })}
          />
        ))}
        {isChanged ? <QueryError query={count} title={t.notCountedAuto} /> : null}
        {saving.error ? <ErrorAlert title={t.autoNotSaved} error={saving.error} /> : null}
        <SaveBar
          isChanged={isChanged}
          busy={saving.isPending}
          what={t.unsavedAuto}
          action={total > 0 ? t.saveAndErase(returnsText(total)) : t.save}
          dangerous={total > 0}
          disabled={!count.data}
          isShort
          onDiscard={() => setDraft(null)}
        />
      </Stack>
    </form>
  );
};

interface RuleInputProps {
  rule: Rule;
  months: number | '' | null;
  /** How many would be erased now, where that is to be said. */
  count: number | undefined;
  onMonths(months: number | '' | null): void;
}

const RuleInput = ({ rule: { kind, end }, months, count, onMonths }: RuleInputProps) => (
  <Stack gap="xs">
    <Switch
      label={t.autoSwitch(kind.many)}
      description={t.autoSwitchHint(kind.one, end)}
      checked={months !== null}
      onChange={({ currentTarget }) => onMonths(currentTarget.checked ? FIRST_MONTHS : null)}
    />
    {months === null ? null : (
      <Stack gap={4} pl={50}>
        <Group gap="xs">
          <Text size="sm">{t.after}</Text>
          <NumberInput
            aria-label={t.monthsOf(kind.many)}
            w={150}
            suffix={t.months(months)}
            min={1}
            max={MOST_MONTHS}
            clampBehavior="none"
            allowDecimal={false}
            allowNegative={false}
            error={months === '' || months < 1 || months > MOST_MONTHS ? t.monthsRange(MOST_MONTHS) : null}
            value={months}
            onChange={(next) => onMonths(typeof next === 'number' ? next : '')}
          />
        </Group>
        <div role="status">
          {count === undefined ? null : (
            <Text size="sm">
              {count === 0 ? t.noneOldEnough(kind.one) : t.erasesNow(countOf(count, kind))} {t.dailyFromThen}
            </Text>
          )}
        </div>
      </Stack>
    )}
  </Stack>
);
