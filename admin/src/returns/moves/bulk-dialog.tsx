import '@mantine/core/styles/List.css';
import { Alert, Button, Group, List, Modal, Stack, Text } from '@mantine/core';
import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { ApiError, api, errorMessage } from '../../api.ts';
import { texts } from '../../texts.ts';
import { openDialog } from '../../ui/dialog-of-toast.tsx';
import { TextLink } from '../../ui/links.tsx';
import { notify, notifyDone } from '../../ui/notify.ts';
import { RunProgress } from '../../ui/run-progress.tsx';
import { Hint } from '../../ui/two-lines.tsx';
import { type AnyReturn, countOf, describeStatus, type Kind } from '../kinds.ts';
import { refetchReturns } from '../queries.ts';
import { MoveForm } from './move-form.tsx';
import { isOneClick, type MoveBody, moveBack, type StaffMove } from './moves.ts';
import { sendMove, undoMove } from './toasts.tsx';

const words = texts.moves;
const SHOWN_NUMBERS = 12;
/** Below this a dialog with the progress would only flash. */
const SHOW_PROGRESS_AFTER_MS = 600;

interface Props<Item> {
  kind: Kind;
  move: StaffMove<Item>;
  selected: readonly Item[];
  /** After a run: with the items that were not moved. */
  onClose(notMoved?: readonly Item[]): void;
}

/** Moves many: at once where nothing has to be filled in. A toast tells the result; its button lists what failed. */
export const BulkDialog = <Item extends AnyReturn>({ kind, move, selected, onClose }: Props<Item>) => {
  // Fixed when the dialog opens: the list behind it refreshes while the work runs.
  const [items] = useState(() => selected.filter((item) => move.isOpen(item)));
  const [notOpen] = useState(selected.length - items.length);
  const isAtOnce = items.every((item) => isOneClick(move, item));
  const { run, done, stop, isSlow } = useBulkMove(kind, move, items, (outcomes) =>
    onClose(notMoved(selected, outcomes)),
  );
  const begin = useEffectEvent(() => run.mutate({}));
  const hasBegun = useRef(false);
  useEffect(() => {
    if (isAtOnce && !hasBegun.current) begin();
    hasBegun.current = true;
  }, [isAtOnce]);
  if (isAtOnce && !isSlow) return null;
  return (
    <Modal
      opened
      onClose={() => onClose()}
      title={words.bulkTitle(move.label, countOf(items.length, kind))}
      closeOnClickOutside={false}
      closeOnEscape={!run.isPending}
      withCloseButton={!run.isPending}
      closeButtonProps={{ 'aria-label': words.closeDialog }}
    >
      {isAtOnce || run.isPending ? (
        <RunProgress label={move.label} done={done} total={items.length} onStop={stop} />
      ) : (
        <MoveForm
          kind={kind}
          move={move}
          initialValues={Object.fromEntries(move.fields.map(({ name }) => [name, '']))}
          onSend={(body) => run.mutateAsync(body)}
          onCancel={() => onClose()}
        >
          <ItemSummary items={items} notOpen={notOpen} />
          <Warnings move={move} items={items} />
        </MoveForm>
      )}
    </Modal>
  );
};

/** One that was moved has what it is now. */
type Moved<Item> = Outcome<Item> & { after: AnyReturn | null };

const useBulkMove = <Item extends AnyReturn>(
  kind: Kind,
  move: StaffMove<Item>,
  items: readonly Item[],
  onDone: (outcomes: readonly Moved<Item>[]) => void,
) => {
  const queryClient = useQueryClient();
  const [done, setDone] = useState(0);
  const [isSlow, setSlow] = useState(false);
  const stopping = useRef(new AbortController());
  const run = useMutation({
    mutationFn: async (body: MoveBody) => {
      stopping.current = new AbortController();
      const timer = setTimeout(() => setSlow(true), SHOW_PROGRESS_AFTER_MS);
      const after = new Map<string, AnyReturn>();
      const send = async ({ id, updatedAt }: Item) =>
        after.set(id, await sendMove(kind, id, move.action, body, updatedAt));
      const outcomes = await runForEach(items, send, stopping.current.signal, setDone).finally(() => {
        clearTimeout(timer);
        setSlow(false);
      });
      const read = await Promise.all(outcomes.map((outcome) => refreshConflict(kind, outcome)));
      return read.map((outcome) => ({ ...outcome, after: after.get(outcome.item.id) ?? null }));
    },
    onSuccess: (outcomes) => {
      tellResult(queryClient, kind, move, outcomes, items.length);
      onDone(outcomes);
    },
    onSettled: () => refetchReturns(queryClient, kind),
  });
  return { run, done, isSlow, stop: () => stopping.current.abort() };
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

const tellResult = <Item extends AnyReturn>(
  queryClient: QueryClient,
  kind: Kind,
  move: StaffMove<Item>,
  outcomes: readonly Moved<Item>[],
  requested: number,
): void => {
  const failed = outcomes.filter(({ error }) => error !== null);
  const moved = outcomes.flatMap(({ item, after }) =>
    after ? [{ after, back: moveBack(item, after) }] : [],
  );
  const backs = moved.flatMap(({ after, back }) => (back ? [{ ...back, after }] : []));
  const canUndo = moved.length > 0 && backs.length === moved.length;
  const undo = async () => {
    const undone = await runForEach(backs, (back) => undoMove(kind, back));
    const left = undone.flatMap(({ item, error }) => (error === null ? [] : [{ item: item.after, error }]));
    if (left.length === 0) notifyDone(words.bulkMovedBack(countOf(moved.length, kind)));
    else showResult(kind, words.undo, left, undone.length, undone.length);
    await refetchReturns(queryClient, kind);
  };
  const actions = canUndo ? [{ label: words.undo, run: undo }] : [];
  if (moved.length === requested)
    void notify({ message: words.bulkDone(move.done, countOf(requested, kind)), actions });
  else showResult(kind, move.label, failed, outcomes.length, requested, actions);
};

/** "15 done, 5 failed", with a button that lists the failures. */
export const showResult = (
  kind: Kind,
  label: string,
  failed: readonly Outcome<AnyReturn>[],
  tried: number,
  requested: number,
  actions: readonly { label: string; run(): unknown }[] = [],
): void => {
  const list = () =>
    openDialog((close) => <Failures kind={kind} label={label} failed={failed} onClose={close} />);
  void notify({
    color: failed.length === 0 ? 'teal' : 'orange',
    title: label,
    message: words.bulkResult(tried - failed.length, failed.length, requested - tried),
    actions: [...(failed.length > 0 ? [{ label: words.show, run: list }] : []), ...actions],
  });
};

const ItemSummary = ({ items, notOpen }: { items: readonly AnyReturn[]; notOpen: number }) => (
  <>
    <Text size="sm">
      {items
        .slice(0, SHOWN_NUMBERS)
        .map(({ rmaNumber }) => rmaNumber)
        .join(', ')}
      {items.length > SHOWN_NUMBERS ? words.andMore(items.length - SHOWN_NUMBERS) : ''}
    </Text>
    {notOpen > 0 ? <Hint>{words.notOpen(notOpen)}</Hint> : null}
  </>
);

const Warnings = <Item,>({ move, items }: { move: StaffMove<Item>; items: readonly Item[] }) => {
  const warnings = items.map((item) => move.warning(item)).filter((warning) => warning !== null);
  if (warnings.length === 0) return null;
  return (
    <Alert color="orange">
      {warnings.length === items.length ? '' : words.someOf(warnings.length, items.length)}
      {warnings[0]}
    </Alert>
  );
};

interface FailuresProps {
  kind: Kind;
  label: string;
  failed: readonly Outcome<AnyReturn>[];
  onClose(): void;
}

const Failures = ({ kind, label, failed, onClose }: FailuresProps) => (
  <Modal
    opened
    onClose={onClose}
    title={words.failedTitle(label, failed.length)}
    closeButtonProps={{ 'aria-label': words.closeDialog }}
  >
    <Stack>
      <List size="sm" spacing="xs" mah="50vh" className="scrolls">
        {failed.map(({ item, error }) => (
          <List.Item key={item.id}>
            <TextLink to={kind.detail} params={{ id: item.id }} inherit className="code" onClick={onClose}>
              {item.rmaNumber}
            </TextLink>
            <br />
            {failureText(error, label, item)}
          </List.Item>
        ))}
      </List>
      <Group justify="flex-end">
        <Button onClick={onClose} data-autofocus>
          {texts.common.close}
        </Button>
      </Group>
    </Stack>
  </Modal>
);

const failureText = (error: unknown, label: string, item: { status: string }): string => {
  const code = error instanceof ApiError ? error.body?.code : undefined;
  if (code === 'MOVE_NOT_ALLOWED') return words.nowOther(describeStatus(item.status).label, label);
  return code === 'EDIT_CONFLICT' ? words.changedMeanwhile : errorMessage(error);
};

export interface Outcome<Item> {
  item: Item;
  /** Null if it worked. */
  error: unknown;
}

/** Low, so that other users of the service notice nothing. */
const CONCURRENCY = 4;

/** Runs the work for every item, a few at a time, until it is aborted. A failure does not stop the others. */
export const runForEach = async <Item,>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
  signal?: AbortSignal,
  onProgress?: (done: number) => void,
): Promise<Outcome<Item>[]> => {
  const outcomes: Outcome<Item>[] = [];
  const waiting = [...items];
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined && !signal?.aborted; item = waiting.shift()) {
      const error = await work(item).then(
        () => null,
        (reason: unknown) => reason ?? new Error('failed'),
      );
      outcomes.push({ item, error });
      onProgress?.(outcomes.length);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return outcomes;
};
