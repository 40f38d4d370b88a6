import '@mantine/core/styles/Switch.css';
import { Button, Group, NumberInput, Stack, Switch, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Forgetting, type ForgettingCount } from '../../../contract/personal-data.ts';
import { api } from '../api.ts';
import { countOf, REPAIRS, TRADE_RETURNS } from '../returns/kinds.ts';
import { notifyDone } from '../ui/notify.ts';
import { Section, useUnsavedWarning } from '../ui/page-frame.tsx';
import { ErrorAlert, QueryError, QueryView } from '../ui/query-view.tsx';
import { returnsText } from './erasing.ts';

const forgettingQuery = queryOptions({
  queryKey: ['forgetting'],
  queryFn: () => api.get<Forgetting>('/forgetting'),
});

const RULES = [
  { field: 'offlineRepairMonths', figure: 'offlineRepairs', kind: REPAIRS, end: 'resolved or closed' },
  { field: 'tradeReturnMonths', figure: 'tradeReturns', kind: TRADE_RETURNS, end: 'resolved or rejected' },
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
    <Section title="Forget automatically">
      <Stack>
        <Text size="sm" maw="70ch">
          Handback can erase the customer’s data in finished returns after a time that you choose. Numbers,
          products, amounts and dates stay. Open returns are never erased by this.
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

const useSave = (onSaved: () => void) => {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (rules: Forgetting) => api.put<Forgetting>('/forgetting', rules),
    onSuccess: (answer) => {
      queryClient.setQueryData(forgettingQuery.queryKey, answer);
      onSaved();
      notifyDone('The rules are saved.');
    },
  });
};

const Editor = ({ saved }: { saved: Forgetting }) => {
  /** What was changed; null while nothing is. */
  const [draft, setDraft] = useState<Draft | null>(null);
  const rules: Draft = draft ?? saved;
  const valid = Forgetting.safeParse(rules).data ?? null;
  const isChanged = RULES.some(({ field }) => rules[field] !== saved[field]);
  const count = useCount(isChanged ? valid : null);
  const saving = useSave(() => setDraft(null));
  useUnsavedWarning(isChanged, 'rules');
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
        {isChanged ? <QueryError query={count} title="The returns could not be counted" /> : null}
        {saving.error ? <ErrorAlert title="The rules are not saved" error={saving.error} /> : null}
        <Group>
          <Button
            type="submit"
            disabled={!isChanged || !count.data}
            loading={saving.isPending}
            {...(total > 0 ? { color: 'red.8' } : {})}
          >
            {total > 0 ? `Save and erase ${returnsText(total)}` : 'Save'}
          </Button>
          {isChanged ? (
            <Button variant="default" onClick={() => setDraft(null)}>
              Discard changes
            </Button>
          ) : null}
        </Group>
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
      label={`Forget the customers of ${kind.many}`}
      description={`The customer’s data in a ${kind.one} are erased some time after it was ${end}.`}
      // Without it the track of one that is off is hardly to be seen.
      styles={{ track: { border: '1px solid var(--mantine-color-dimmed)' } }}
      checked={months !== null}
      onChange={({ currentTarget }) => onMonths(currentTarget.checked ? FIRST_MONTHS : null)}
    />
    {months === null ? null : (
      <Stack gap={4} pl={{ base: 0, xs: 50 }}>
        <Group gap="xs">
          <Text size="sm">Erase after</Text>
          <NumberInput
            aria-label={`Months until ${kind.many} are forgotten`}
            w={150}
            suffix={months === 1 ? ' month' : ' months'}
            min={1}
            max={MOST_MONTHS}
            clampBehavior="none"
            allowDecimal={false}
            allowNegative={false}
            error={months === '' || months < 1 || months > MOST_MONTHS ? `1 to ${MOST_MONTHS} months` : null}
            value={months}
            onChange={(next) => onMonths(typeof next === 'number' ? next : '')}
          />
        </Group>
        <div role="status">
          {count === undefined ? null : (
            <Text size="sm">
              {count === 0
                ? `No ${kind.one} is that old yet.`
                : `This erases ${countOf(count, kind)} within the next minutes. It cannot be undone.`}{' '}
              From then on it is checked every day.
            </Text>
          )}
        </div>
      </Stack>
    )}
  </Stack>
);
