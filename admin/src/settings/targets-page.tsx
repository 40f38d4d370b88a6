import '@mantine/core/styles/NumberInput.css';
import { Button, Group, NumberInput, SimpleGrid, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Sparkles } from 'lucide-react';
import { useId, useState } from 'react';
import type { TargetDays } from '../../../contract/admin-work.ts';
import { api } from '../api.ts';
import { overviewQuery, targetsQuery } from '../shop-queries.ts';
import { texts } from '../texts.ts';
import { notifyDone } from '../ui/notify.ts';
import { PageFrame, Section } from '../ui/page-frame.tsx';
import { ErrorAlert, QueryView } from '../ui/query-view.tsx';
import { SaveBar } from '../ui/save-bar.tsx';
import { Hint } from '../ui/two-lines.tsx';
import { TARGET_LABELS, TARGET_STATUSES, type TargetStatus } from './labels.ts';

const t = texts.settings;

export const TargetsPage = () => {
  const saved = useQuery(targetsQuery);
  return (
    <PageFrame title={t.targets} intro={t.targetsIntro}>
      <QueryView query={saved}>{({ targets }) => <Editor saved={targets} />}</QueryView>
    </PageFrame>
  );
};

type Targets = TargetDays['targets'];
type Days = Record<TargetStatus, number | ''>;

const MOST_DAYS = 365;
const ALL = Object.values(TARGET_STATUSES).flat();

const daysOf = (targets: Targets): Days =>
  Object.fromEntries(
    ALL.map((status) => [status, targets.find((target) => target.status === status)?.days ?? '']),
  ) as Days;

const targetsFrom = (days: Days): Targets =>
  ALL.flatMap((status) => {
    const value = days[status];
    return typeof value === 'number' ? [{ status, days: value }] : [];
  });

/** Where most shops have one: while someone works on it, or the company waits for a response. */
const SUGGESTED: Partial<Days> = {
  OFFLINE_DIAGNOSTICS: 3,
  OFFLINE_REPAIR: 10,
  TRADE_SUBMITTED: 2,
  TRADE_RECEIVED: 7,
};

const Editor = ({ saved }: { saved: Targets }) => {
  /** What was changed; null while nothing is. */
  const [draft, setDraft] = useState<Days | null>(null);
  const before = daysOf(saved);
  const days = draft ?? before;
  const queryClient = useQueryClient();
  const saving = useMutation({
    mutationFn: (targets: Targets) => api.put<TargetDays>('/target-days', { targets }),
    onSuccess: async (result) => {
      queryClient.setQueryData(targetsQuery.queryKey, result);
      setDraft(null);
      notifyDone(t.targetsSaved);
      await queryClient.invalidateQueries({ queryKey: overviewQuery.queryKey });
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        saving.mutate(targetsFrom(days));
      }}
    >
      <Stack gap="lg">
        {ALL.every((status) => days[status] === '') ? (
          <Suggestion onSuggest={() => setDraft({ ...days, ...SUGGESTED })} />
        ) : null}
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing={48} maw={860}>
          {(['repairs', 'tradeReturns'] as const).map((kind) => (
            <div key={kind}>
              <Section title={t.targetKinds[kind]}>
                <Stack gap="xs">
                  {TARGET_STATUSES[kind].map((status) => (
                    <DaysInput
                      key={status}
                      label={TARGET_LABELS[status]}
                      value={days[status]}
                      onDays={(value) => setDraft({ ...days, [status]: value })}
                    />
                  ))}
                </Stack>
              </Section>
            </div>
          ))}
        </SimpleGrid>
        {saving.error ? <ErrorAlert title={t.targetsNotSaved} error={saving.error} /> : null}
        <SaveBar
          isChanged={JSON.stringify(days) !== JSON.stringify(before)}
          busy={saving.isPending}
          what={t.unsavedTargets}
          onDiscard={() => setDraft(null)}
        />
      </Stack>
    </form>
  );
};

/** For a shop without any target. */
const Suggestion = ({ onSuggest }: { onSuggest(): void }) => (
  <Group gap="sm">
    <Button variant="default" leftSection={<Sparkles />} onClick={onSuggest}>
      {t.suggestTargets}
    </Button>
    <Hint>{t.suggestTargetsHint}</Hint>
  </Group>
);

interface DaysProps {
  label: string;
  value: number | '';
  onDays(value: number | ''): void;
}

const DaysInput = ({ label, value, onDays }: DaysProps) => {
  const id = useId();
  return (
    <Group justify="space-between" wrap="nowrap" gap="sm">
      <Text size="sm" component="label" htmlFor={id}>
        {label}
      </Text>
      <NumberInput
        id={id}
        w={120}
        flex="none"
        suffix={t.days(value)}
        placeholder={t.noTarget}
        min={1}
        max={MOST_DAYS}
        clampBehavior="strict"
        allowDecimal={false}
        allowNegative={false}
        value={value}
        onChange={(next) => onDays(typeof next === 'number' ? next : '')}
      />
    </Group>
  );
};
