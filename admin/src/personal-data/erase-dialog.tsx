import { Alert, Button, Checkbox, Group, List, Modal, Stack, Text, Textarea } from '@mantine/core';
import { keepPreviousData, type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { Fragment, type ReactNode, useEffect, useRef, useState } from 'react';
import type { RefusedReturn } from '../../../contract/common.ts';
import { EraseFormerEmployee, type Erasure, type FindCustomer } from '../../../contract/personal-data.ts';
import { api } from '../api.ts';
import { KINDS } from '../returns/kinds.ts';
import { refetchReturns } from '../returns/queries.ts';
import { useApiForm } from '../ui/forms/api-form.ts';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { LoadingRows, QueryError } from '../ui/query-view.tsx';
import { RunProgress } from '../ui/run-progress.tsx';
import { removeFromTab } from '../ui/tab-storage.ts';
import { Hint } from '../ui/two-lines.tsx';
import { type ErasureReport, eraseAll, personText, returnsText } from './erasing.ts';

/** A body with nothing but a reason. */
export const Reason = EraseFormerEmployee;

export const ReasonInput = (input: object) => (
  <Textarea
    label="Reason"
    description="Kept in the audit log. Write no names here, for example: “Asked by letter”."
    required
    autosize
    minRows={1}
    maxRows={4}
    data-autofocus
    {...input}
  />
);

interface Props {
  person: FindCustomer;
  onErased(): void;
  onClose(): void;
}

const DRY_RUN = 'erase-dry-run';

/** Asks the service first what would be erased; nothing is changed by that. */
const useDryRun = (person: FindCustomer, includeOpen: boolean) =>
  useQuery({
    queryKey: [DRY_RUN, person, includeOpen],
    queryFn: () =>
      api.post<Erasure>('/customers/erase', { ...person, includeOpen, reason: 'Dry run', dryRun: true }),
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
    gcTime: 0,
  });

/** Removes what this tab still holds of the returns: pages that were read, searches, and what was typed about them. */
const forgetReturns = (queryClient: QueryClient, ids: readonly string[]): void => {
  removeFromTab((name) => /^handback\.(search|walk)\./.test(name) || ids.some((id) => name.includes(id)));
  queryClient.removeQueries({ queryKey: ['search'] });
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
    const answer = await api.post<Erasure>('/customers/erase', { ...person, includeOpen, reason });
    forgetReturns(
      queryClient,
      answer.returns.map(({ id }) => id),
    );
    return answer;
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

const TITLE = 'Erase the data of a customer';

export const EraseDialog = (props: Props) => {
  const { person, onClose } = props;
  const [includeOpen, setIncludeOpen] = useState(false);
  const dryRun = useDryRun(person, includeOpen);
  const { form, dialog, done, report, stop } = useErasing(props, includeOpen);
  const count = dryRun.data ? dryRun.data.erased + dryRun.data.remaining : 0;
  if (report) return <Report report={report} onClose={onClose} />;
  if (dialog.busy)
    return (
      <Modal opened onClose={onClose} title={TITLE} closeOnClickOutside={false} size="lg">
        <Stack>
          <RunProgress label="Erasing" done={done} total={count} onStop={stop} />
          <Hint>
            You can stop or close this. What is erased stays erased, and you can erase the rest another time.
          </Hint>
        </Stack>
      </Modal>
    );
  return (
    <FormDialog
      {...dialog}
      title={TITLE}
      action={count === 0 ? 'Erase' : `Erase ${returnsText(count)}`}
      dangerous
      disabled={count === 0 || dryRun.isFetching}
      onClose={onClose}
    >
      <QueryError query={dryRun} title="What would be erased could not be counted" />
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
      {count === 0 ? 'No return' : returnsText(count)} of <strong>{personText(person)}</strong>{' '}
      {count === 0 ? 'can be erased now.' : 'will be erased. This cannot be undone.'}
    </Text>
    {dryRun.refused.length > 0 ? (
      <Refused refused={dryRun.refused} title={`${returnsText(dryRun.matched - count)} will not be erased`}>
        Finish open returns first, or tick “Erase open returns too”.
      </Refused>
    ) : null}
    {dryRun.refused.length > 0 || includeOpen ? (
      <Checkbox
        label="Erase open returns too"
        description="You cannot finish them afterwards, nor reach the customer about them, and they leave the lists of open returns. Webhooks about them that are not sent yet are dropped: your other programs never get them."
        checked={includeOpen}
        onChange={({ currentTarget }) => onIncludeOpen(currentTarget.checked)}
      />
    ) : null}
    <List size="sm" spacing={4}>
      <List.Item>
        <strong>Erased:</strong> name, e-mail, phone and address, all descriptions, notes and comments, and
        the tracking number. Also in the timeline and in stored events.
      </List.Item>
      <List.Item>
        <strong>Kept:</strong> the number of the return, order and serial number, product, company, store,
        status, amounts and dates.
      </List.Item>
      <List.Item>
        <strong>Not touched:</strong> copies elsewhere, such as in your till or ERP, exported files, printed
        slips and backups.
      </List.Item>
    </List>
  </>
);

const REFUSED_BECAUSE: Record<RefusedReturn['reason'], string> = {
  OPEN: 'Still open',
  DELIVERY_WAITING: 'A webhook about it is still to be sent; try again in some minutes',
};
const MOST_NAMED = 10;

interface RefusedProps {
  title: string;
  refused: readonly RefusedReturn[];
  children?: ReactNode;
}

const Refused = ({ title, refused, children }: RefusedProps) => (
  <Alert color="orange" title={title}>
    <Stack gap="xs">
      {Object.entries(REFUSED_BECAUSE).map(([reason, label]) => (
        <Numbers key={reason} label={label} of={refused.filter((each) => each.reason === reason)} />
      ))}
      {children}
    </Stack>
  </Alert>
);

const Numbers = ({ label, of }: { label: string; of: readonly RefusedReturn[] }) => {
  if (of.length === 0) return null;
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
      {rest > 0 ? ` and ${rest} more` : ''}
    </div>
  );
};

interface ReportProps {
  report: ErasureReport;
  onClose(): void;
}

const Report = ({ report: { erased, refused, remaining }, onClose }: ReportProps) => (
  <Modal opened onClose={onClose} title={TITLE} closeOnClickOutside={false} size="lg">
    <Stack>
      <Text role="status">
        {erased.length === 0
          ? 'Nothing was erased: no return with this customer’s data is left that could be.'
          : `Erased: ${returnsText(erased.length)}.`}
        {remaining > 0 ? ` ${returnsText(remaining)} can still be erased: choose Erase… again.` : ''}
      </Text>
      {refused.length > 0 ? (
        <Refused refused={refused} title={`Not erased: ${returnsText(refused.length)}`} />
      ) : null}
      <Group justify="flex-end">
        <Button onClick={onClose} data-autofocus>
          Done
        </Button>
      </Group>
    </Stack>
  </Modal>
);
