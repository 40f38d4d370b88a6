import { Alert, Button, Group, List, Modal, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { ApiError, api, errorMessage } from '../../api.ts';
import { TextLink } from '../../ui/links.tsx';
import { RunProgress } from '../../ui/run-progress.tsx';
import { Hint } from '../../ui/two-lines.tsx';
import { type AnyReturn, countOf, describeStatus, type Kind } from '../kinds.ts';
import { refetchReturns } from '../queries.ts';
import { MoveForm } from './move-form.tsx';
import type { MoveBody, StaffMove } from './moves.ts';
import { type Outcome, runForEach } from './run-for-each.ts';

const SHOWN_NUMBERS = 12;

interface Props<Item> {
  kind: Kind;
  move: StaffMove<Item>;
  selected: readonly Item[];
  /** After a run: with the items that were not moved. */
  onClose(notMoved?: readonly Item[]): void;
}

export const BulkDialog = <Item extends AnyReturn>({ kind, move, selected, onClose }: Props<Item>) => {
  // Fixed when the dialog opens: the list behind it refreshes while the work runs.
  const [items] = useState(() => selected.filter((item) => move.isOpen(item)));
  const { run, done, stop } = useBulkMove(kind, move, items);
  const outcomes = run.data;
  const close = () => {
    stop();
    onClose(outcomes && notMoved(selected, outcomes));
  };
  return (
    <Modal
      opened
      onClose={close}
      title={`${move.label}: ${countOf(items.length, kind)}`}
      closeOnClickOutside={false}
      closeOnEscape={!run.isPending}
      withCloseButton={!run.isPending}
      closeButtonProps={{ 'aria-label': 'Close the dialog' }}
    >
      {outcomes ? (
        <BulkReport kind={kind} move={move} outcomes={outcomes} requested={items.length} onClose={close} />
      ) : run.isPending ? (
        <RunProgress label={move.label} done={done} total={items.length} onStop={stop} />
      ) : (
        <MoveForm
          kind={kind}
          move={move}
          initialValues={Object.fromEntries(move.fields.map(({ name }) => [name, '']))}
          onSend={(body) => run.mutateAsync(body)}
          onCancel={close}
        >
          <ItemSummary items={items} selected={selected} />
          <Warnings move={move} items={items} />
        </MoveForm>
      )}
    </Modal>
  );
};

const useBulkMove = <Item extends AnyReturn>(kind: Kind, move: StaffMove<Item>, items: readonly Item[]) => {
  const queryClient = useQueryClient();
  const [done, setDone] = useState(0);
  const stopping = useRef(new AbortController());
  const run = useMutation({
    mutationFn: async (body: MoveBody) => {
      stopping.current = new AbortController();
      const outcomes = await runForEach(
        items,
        (item) => api.post(`${kind.path}/${item.id}/${move.action}`, body, {}, { seen: item.updatedAt }),
        stopping.current.signal,
        setDone,
      );
      return Promise.all(outcomes.map((outcome) => refreshConflict(kind, outcome)));
    },
    onSettled: () => refetchReturns(queryClient, kind),
  });
  return { run, done, stop: () => stopping.current.abort() };
};

/** After a conflict a colleague has probably moved the return, so it is read again. */
const refreshConflict = async <Item extends AnyReturn>(
  kind: Kind,
  { item, error }: Outcome<Item>,
): Promise<Outcome<Item>> =>
  error instanceof ApiError && error.status === 409
    ? { item: await api.get<Item>(`${kind.path}/${item.id}`).catch(() => item), error }
    : { item, error };

const notMoved = <Item extends AnyReturn>(
  selected: readonly Item[],
  outcomes: readonly Outcome<Item>[],
): Item[] => {
  const byId = new Map(outcomes.map((outcome) => [outcome.item.id, outcome]));
  return selected.flatMap((item) => {
    const outcome = byId.get(item.id);
    return outcome?.error === null ? [] : [outcome?.item ?? item];
  });
};

const ItemSummary = ({ items, selected }: Record<'items' | 'selected', readonly AnyReturn[]>) => (
  <>
    <Text size="sm">
      {items
        .slice(0, SHOWN_NUMBERS)
        .map(({ rmaNumber }) => rmaNumber)
        .join(', ')}
      {items.length > SHOWN_NUMBERS ? ` and ${items.length - SHOWN_NUMBERS} more` : ''}
    </Text>
    {items.length < selected.length ? (
      <Hint>
        {selected.length - items.length} of the selected are not open for this and stay as they are.
      </Hint>
    ) : null}
  </>
);

const Warnings = <Item,>({ move, items }: { move: StaffMove<Item>; items: readonly Item[] }) => {
  const warnings = items.map((item) => move.warning(item)).filter((warning) => warning !== null);
  if (warnings.length === 0) return null;
  return (
    <Alert color="orange">
      {warnings.length === items.length ? '' : `${warnings.length} of ${items.length}: `}
      {warnings[0]}
    </Alert>
  );
};

interface BulkReportProps<Item> {
  kind: Kind;
  move: StaffMove<Item>;
  outcomes: readonly Outcome<Item>[];
  requested: number;
  onClose(): void;
}

const BulkReport = <Item extends AnyReturn>(props: BulkReportProps<Item>) => {
  const { kind, move, outcomes, requested, onClose } = props;
  const failed = outcomes.filter(({ error }) => error !== null);
  const moved = outcomes.length - failed.length;
  return (
    <Stack>
      <Alert
        color={moved === requested ? 'teal' : 'orange'}
        role="status"
        title={`${move.done}: ${moved} of ${requested}`}
      >
        {failed.length > 0
          ? `${countOf(failed.length, kind)} could not be moved; what was not moved stays selected.`
          : null}
        {outcomes.length < requested ? ` Stopped; ${requested - outcomes.length} were not tried.` : null}
      </Alert>
      {failed.length > 0 ? (
        <List size="sm" spacing="xs" mah="40vh" style={{ overflowY: 'auto' }}>
          {failed.map(({ item, error }) => (
            <List.Item key={item.id}>
              <TextLink to={kind.detail} params={{ id: item.id }} inherit fw={600}>
                {item.rmaNumber}
              </TextLink>
              <br />
              {moveFailure(error, move, item)}
            </List.Item>
          ))}
        </List>
      ) : null}
      <Group justify="flex-end">
        <Button onClick={onClose} data-autofocus>
          Done
        </Button>
      </Group>
    </Stack>
  );
};

const moveFailure = (
  error: unknown,
  move: Pick<StaffMove<never>, 'label'>,
  item: { status: string },
): string =>
  error instanceof ApiError && error.body?.code === 'MOVE_NOT_ALLOWED'
    ? `It is “${describeStatus(item.status).label}” now, so “${move.label}” is not possible any more.`
    : errorMessage(error);
