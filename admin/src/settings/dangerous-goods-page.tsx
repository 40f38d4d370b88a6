import { Alert, Badge, Button, Code, EmptyState, Grid, Group, Stack } from '@mantine/core';
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import type { DangerousGoods } from '../../../contract/admin-people.ts';
import { api } from '../api.ts';
import { notifyDone } from '../ui/notify.ts';
import { PageFrame, useUnsavedWarning } from '../ui/page-frame.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { Hint } from '../ui/two-lines.tsx';
import { AddRules, RuleList, SkuTester } from './rules.tsx';

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
