import { Alert, Button, Group, List, Modal, Progress, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { ApiError, api } from '../../api.ts';
import { TextLink } from '../../ui/links.tsx';
import { type AnyReturn, countOf, type Kind, refetchLists } from '../kinds.ts';
import { MoveForm } from './move-form.tsx';
import type { MoveBody, StaffMove } from './moves.ts';
import { type Outcome, runForEach } from './run-for-each.ts';

/** Few enough that others at the same service notice nothing. */
const AT_ONCE = 4;
const SHOWN_NUMBERS = 12;

interface Props<Item> {
  kind: Kind;
  move: StaffMove<Item>;
  selected: readonly Item[];
  /** With what is still to be done, where anything was tried. */
  onClose(left?: readonly Item[]): void;
}

/** The same move of many: what it asks for, how far it is, what came of it. */
export const BulkDialog = <Item extends AnyReturn>({ kind, move, selected, onClose }: Props<Item>) => {
  const queryClient = useQueryClient();
  // As it was when the dialog opened: the list behind it is read again while the work goes on.
  const [items] = useState(() => selected.filter((item) => move.isOpen(item)));
  const [done, setDone] = useState(0);
  const stop = useRef(new AbortController());
  const run = useMutation({
    mutationFn: async (body: MoveBody) => {
      stop.current = new AbortController();
      const outcomes = await runForEach(
        items,
        (item) => api.post(`${kind.path}/${item.id}/${move.action}`, body),
        { atOnce: AT_ONCE, signal: stop.current.signal, onDone: setDone },
      );
      return Promise.all(outcomes.map(asItStands));
    },
    onSettled: () => refetchLists(queryClient, kind),
  });
  /** What was refused has probably been moved by somebody else. */
  const asItStands = async ({ item, error }: Outcome<Item>): Promise<Outcome<Item>> =>
    error instanceof ApiError && error.status === 409
      ? { item: await api.get<Item>(`${kind.path}/${item.id}`).catch(() => item), error }
      : { item, error };
  const outcomes = run.data;
  const close = () => {
    stop.current.abort();
    if (!outcomes) return onClose();
    const tried = new Map(outcomes.map((outcome) => [outcome.item.id, outcome]));
    onClose(
      selected.flatMap((item) => {
        const outcome = tried.get(item.id);
        return outcome?.error === null ? [] : [outcome?.item ?? item];
      }),
    );
  };
  return (
    <Modal
      opened
      onClose={close}
      title={`${move.label}: ${countOf(items.length, kind)}`}
      closeOnClickOutside={!run.isPending}
      closeOnEscape={!run.isPending}
      withCloseButton={!run.isPending}
      closeButtonProps={{ 'aria-label': 'Close the dialog' }}
    >
      {outcomes ? (
        <Report kind={kind} move={move} outcomes={outcomes} asked={items.length} onClose={close} />
      ) : run.isPending ? (
        <Stack>
          <Progress value={(100 * done) / items.length} aria-label={move.label} />
          <Group justify="space-between">
            <Text size="sm" className="tabular-numbers" role="status">
              {done} of {items.length}
            </Text>
            <Button variant="default" size="xs" onClick={() => stop.current.abort()}>
              Stop
            </Button>
          </Group>
        </Stack>
      ) : (
        <MoveForm
          kind={kind}
          move={move}
          given={Object.fromEntries(move.fields.map(({ name }) => [name, '']))}
          onSend={(body) => run.mutateAsync(body)}
          onCancel={close}
        >
          <Text size="sm">
            {items
              .slice(0, SHOWN_NUMBERS)
              .map(({ rmaNumber }) => rmaNumber)
              .join(', ')}
            {items.length > SHOWN_NUMBERS ? ` and ${items.length - SHOWN_NUMBERS} more` : ''}
          </Text>
          {items.length < selected.length ? (
            <Text size="sm" c="dimmed">
              {selected.length - items.length} of the selected are not open for this and stay as they are.
            </Text>
          ) : null}
          <Warnings move={move} items={items} />
        </MoveForm>
      )}
    </Modal>
  );
};

const Warnings = <Item,>({ move, items }: { move: StaffMove<Item>; items: readonly Item[] }) => {
  const warned = items.map((item) => move.warning(item)).filter((says) => says !== null);
  if (warned.length === 0) return null;
  return (
    <Alert color="orange">
      {warned.length === items.length ? '' : `${warned.length} of ${items.length}: `}
      {warned[0]}
    </Alert>
  );
};

interface ReportProps<Item> {
  kind: Kind;
  move: StaffMove<Item>;
  outcomes: readonly Outcome<Item>[];
  asked: number;
  onClose(): void;
}

const Report = <Item extends AnyReturn>({ kind, move, outcomes, asked, onClose }: ReportProps<Item>) => {
  const failed = outcomes.filter(({ error }) => error !== null);
  const made = outcomes.length - failed.length;
  return (
    <Stack>
      <Alert
        color={made === asked ? 'teal' : 'orange'}
        role="status"
        title={`${move.done}: ${made} of ${asked}`}
      >
        {failed.length > 0
          ? `${countOf(failed.length, kind)} could not be moved; what was not moved stays selected.`
          : null}
        {outcomes.length < asked ? ` Stopped; ${asked - outcomes.length} were not tried.` : null}
      </Alert>
      {failed.length > 0 ? (
        <List size="sm" spacing="xs" mah="40vh" style={{ overflowY: 'auto' }}>
          {failed.map(({ item, error }) => (
            <List.Item key={item.id}>
              <TextLink to={kind.detail} params={{ id: item.id }} inherit fw={600}>
                {item.rmaNumber}
              </TextLink>
              <br />
              {reasonOf(error)}
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

const reasonOf = (error: unknown): string =>
  error instanceof ApiError || error instanceof Error ? error.message : 'Something went wrong.';
