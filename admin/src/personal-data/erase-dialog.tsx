import '@mantine/core/styles/List.css';
import { Alert, Button, Checkbox, Group, List, Modal, Stack, Text, Textarea } from '@mantine/core';
import { keepPreviousData, type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { Fragment, type ReactNode, useEffect, useRef, useState } from 'react';
import type { RefusedReturn } from '../../../contract/common.ts';
import { EraseFormerEmployee, type Erasure, type FindCustomer } from '../../../contract/personal-data.ts';
import { api } from '../api.ts';
import { KINDS } from '../returns/kinds.ts';
import { refetchReturns } from '../returns/queries.ts';
import { texts } from '../texts.ts';
import { useApiForm } from '../ui/forms/api-form.ts';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { wordFor } from '../ui/known-word.ts';
import { LoadingRows, QueryError } from '../ui/query-view.tsx';
import { RunProgress } from '../ui/run-progress.tsx';
import { removeFromTab } from '../ui/tab-storage.ts';
import { Hint } from '../ui/two-lines.tsx';
import { type ErasureReport, eraseAll, personText, returnsText } from './erasing.ts';

const t = texts.personalData;

/** A body with nothing but a reason. */
export const Reason = EraseFormerEmployee;

export const ReasonInput = (input: object) => (
  <Textarea label={t.reason} description={t.reasonHint} required maxRows={4} data-autofocus {...input} />
);

interface Props {
  person: FindCustomer;
  onErased(): void;
  onClose(): void;
}

const DRY_RUN = 'erase-dry-run';

/** Removes what this tab still holds of the returns: pages that were read, searches, and what was typed about them. */
const forgetReturns = (queryClient: QueryClient, ids: readonly string[]): void => {
  removeFromTab(
    (name) => /^handback\.(search|walk|station)\./.test(name) || ids.some((id) => name.includes(id)),
  );
  for (const name of ['search', 'station']) queryClient.removeQueries({ queryKey: [name] });
  for (const kind of KINDS) {
    queryClient.removeQueries({ queryKey: [kind.path] });
    void refetchReturns(queryClient, kind);
  }
};

const useErasing = ({ person, onErased }: Props, includeOpen: boolean) => {
  const queryClient = useQueryClient();
  const [done, setDone] = useState(0);
  const [report, setReport] = useState<ErasureReport | null>(null);
  const stopping = useRef(new AbortController());
  useEffect(() => () => stopping.current.abort(), []);
  const eraseSome = async (reason: string) => {
    const result = await api.postLong<Erasure>('/customers/erase', { ...person, includeOpen, reason });
    forgetReturns(
      queryClient,
      result.returns.map(({ id }) => id),
    );
    return result;
  };
  const { form, ...dialog } = useApiForm({
    schema: Reason,
    initialValues: { reason: '' },
    send: async ({ reason }) => {
      stopping.current = new AbortController();
      setDone(0);
      try {
        return await eraseAll(() => eraseSome(reason), setDone, stopping.current.signal);
      } catch (error) {
        void queryClient.invalidateQueries({ queryKey: [DRY_RUN] });
        throw error;
      } finally {
        onErased();
      }
    },
    onDone: setReport,
  });
  return { form, dialog, done, report, stop: () => stopping.current.abort() };
};

export const EraseDialog = (props: Props) => {
  const { person, onClose } = props;
  const [includeOpen, setIncludeOpen] = useState(false);
  // Says what would be erased; nothing is changed by it.
  const dryRun = useQuery({
    queryKey: [DRY_RUN, person, includeOpen],
    queryFn: () =>
      api.postLong<Erasure>('/customers/erase', { ...person, includeOpen, reason: 'Dry run', dryRun: true }),
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
    gcTime: 0,
  });
  const { form, dialog, done, report, stop } = useErasing(props, includeOpen);
  const count = dryRun.data ? dryRun.data.erased + dryRun.data.remaining : 0;
  if (report) return <Report report={report} onClose={onClose} />;
  if (dialog.busy)
    return (
      <Modal opened onClose={onClose} title={t.eraseTitle} closeOnClickOutside={false} size="lg">
        <Stack>
          <RunProgress label={t.erasing} done={done} total={count} onStop={stop} />
          <Hint>{t.erasingHint}</Hint>
        </Stack>
      </Modal>
    );
  return (
    <FormDialog
      {...dialog}
      title={t.eraseTitle}
      action={count === 0 ? t.eraseAction : t.eraseCount(returnsText(count))}
      dangerous
      disabled={count === 0 || dryRun.isFetching}
      onClose={onClose}
    >
      <QueryError query={dryRun} title={t.notCounted} />
      {dryRun.isPending ? <LoadingRows rows={2} /> : null}
      {dryRun.data ? (
        <Consequences
          person={person}
          dryRun={dryRun.data}
          count={count}
          includeOpen={includeOpen}
          onIncludeOpen={setIncludeOpen}
        />
      ) : null}
      <ReasonInput {...form.getInputProps('reason')} />
    </FormDialog>
  );
};

interface ConsequencesProps {
  person: FindCustomer;
  dryRun: Erasure;
  count: number;
  includeOpen: boolean;
  onIncludeOpen(includeOpen: boolean): void;
}

const Consequences = ({ person, dryRun, count, includeOpen, onIncludeOpen }: ConsequencesProps) => (
  <>
    <Text role="status" style={{ overflowWrap: 'anywhere' }}>
      {count === 0
        ? t.nothingToErase(personText(person))
        : t.willBeErased(returnsText(count), personText(person))}
    </Text>
    {dryRun.refused.length > 0 ? (
      <Refused refused={dryRun.refused} title={t.willNotBeErased(returnsText(dryRun.matched - count))}>
        {t.finishFirst}
      </Refused>
    ) : null}
    {dryRun.refused.length > 0 || includeOpen ? (
      <Checkbox
        label={t.eraseOpen}
        description={t.eraseOpenHint}
        checked={includeOpen}
        onChange={({ currentTarget }) => onIncludeOpen(currentTarget.checked)}
      />
    ) : null}
    <List size="sm" spacing={4}>
      <List.Item>
        <strong>{t.erased}</strong> {t.erasedWhat}
      </List.Item>
      <List.Item>
        <strong>{t.kept}</strong> {t.keptWhat}
      </List.Item>
      <List.Item>
        <strong>{t.untouched}</strong> {t.untouchedWhat}
      </List.Item>
    </List>
  </>
);

const MOST_NAMED = 10;

interface RefusedProps {
  title: string;
  refused: readonly RefusedReturn[];
  children?: ReactNode;
}

const Refused = ({ title, refused, children }: RefusedProps) => (
  <Alert color="orange" title={title}>
    <Stack gap="xs">
      {[...Map.groupBy(refused, ({ reason }) => reason)].map(([reason, returns]) => (
        <Numbers key={reason} label={wordFor(t.refusedBecause, reason)} of={returns} />
      ))}
      {children}
    </Stack>
  </Alert>
);

const Numbers = ({ label, of }: { label: string; of: readonly RefusedReturn[] }) => {
  const rest = of.length - MOST_NAMED;
  return (
    <div>
      {label}:{' '}
      {of.slice(0, MOST_NAMED).map(({ id, rmaNumber }, index) => (
        <Fragment key={id}>
          {index > 0 ? ', ' : ''}
          <span style={{ whiteSpace: 'nowrap' }}>{rmaNumber}</span>
        </Fragment>
      ))}
      {rest > 0 ? t.andMore(rest) : ''}
    </div>
  );
};

interface ReportProps {
  report: ErasureReport;
  onClose(): void;
}

const Report = ({ report: { erased, refused, remaining }, onClose }: ReportProps) => (
  <Modal opened onClose={onClose} title={t.eraseTitle} closeOnClickOutside={false} size="lg">
    <Stack>
      <Text role="status">
        {erased.length === 0 ? t.nothingErased : t.wereErased(returnsText(erased.length))}
        {remaining > 0 ? ` ${t.remaining(returnsText(remaining))}` : ''}
      </Text>
      {refused.length > 0 ? (
        <Refused refused={refused} title={t.notErased(returnsText(refused.length))} />
      ) : null}
      <Group justify="flex-end">
        <Button onClick={onClose} data-autofocus>
          {t.done}
        </Button>
      </Group>
    </Stack>
  </Modal>
);
