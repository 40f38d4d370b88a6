import { Alert, Button, Fieldset, Group, NumberInput, SimpleGrid, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { TargetDays } from '../../../contract/admin-work.ts';
import { api } from '../api.ts';
import { overviewQuery, targetsQuery } from '../shop-queries.ts';
import { notifyDone } from '../ui/notify.ts';
import { PageFrame, useUnsavedWarning } from '../ui/page-frame.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { TARGET_STATUSES } from './labels.ts';

export const TargetsPage = () => {
  const saved = useQuery(targetsQuery);
  return (
    <PageFrame
      title="Targets"
      intro="After how many days in a status a return is overdue. Overdue returns are marked in the lists, have a view of their own and are counted on the overview. A move starts the days anew. Leave a field empty where there is no target."
    >
      <QueryView query={saved}>{({ targets }) => <Editor saved={targets} />}</QueryView>
    </PageFrame>
  );
};

type Targets = TargetDays['targets'];
type Days = Record<string, number | ''>;

const MOST_DAYS = 365;

const daysOf = (targets: Targets): Days =>
  Object.fromEntries(
    TARGET_STATUSES.map(({ status }) => [
      status,
      targets.find((target) => target.status === status)?.days ?? '',
    ]),
  );

const targetsFrom = (days: Days): Targets =>
  TARGET_STATUSES.flatMap(({ status }) => {
    const value = days[status];
    return typeof value === 'number' ? [{ status, days: value }] : [];
  });

const useSave = (onSaved: () => void) => {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (targets: Targets) => api.put<TargetDays>('/target-days', { targets }),
    onSuccess: async (answer) => {
      queryClient.setQueryData(targetsQuery.queryKey, answer);
      onSaved();
      notifyDone('The targets are saved.');
      await queryClient.invalidateQueries({ queryKey: overviewQuery.queryKey });
    },
  });
};

const Editor = ({ saved }: { saved: Targets }) => {
  /** What was changed; null while nothing is. */
  const [draft, setDraft] = useState<Days | null>(null);
  const before = daysOf(saved);
  const days = draft ?? before;
  const isChanged = JSON.stringify(days) !== JSON.stringify(before);
  const saving = useSave(() => setDraft(null));
  useUnsavedWarning(isChanged, 'targets');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        saving.mutate(targetsFrom(days));
      }}
    >
      <Stack>
        <SimpleGrid cols={{ base: 1, md: 2 }}>
          {['Offline repairs', 'Trade returns'].map((kind) => (
            <Fieldset key={kind} legend={kind}>
              <Stack gap="sm">
                {TARGET_STATUSES.filter((target) => target.kind === kind).map(({ status, label }) => (
                  <DaysInput
                    key={status}
                    label={label}
                    value={days[status] ?? ''}
                    onDays={(value) => setDraft({ ...days, [status]: value })}
                  />
                ))}
              </Stack>
            </Fieldset>
          ))}
        </SimpleGrid>
        {saving.error ? (
          <Alert color="red" role="alert" title="The targets are not saved">
            {saving.error.message}
          </Alert>
        ) : null}
        <Group>
          <Button type="submit" disabled={!isChanged} loading={saving.isPending}>
            Save targets
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

interface DaysProps {
  label: string;
  value: number | '';
  onDays(value: number | ''): void;
}

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

const DaysInput = ({ label, value, onDays }: DaysProps) => (
  <Group justify="space-between" wrap="nowrap" gap="sm">
    <Text size="sm">{capital(label)}</Text>
    <NumberInput
      aria-label={`Days ${label}`}
      w={120}
      flex="none"
      suffix={value === 1 ? ' day' : ' days'}
      placeholder="no target"
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
