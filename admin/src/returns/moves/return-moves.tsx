import { Alert, Button, Group, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useState } from 'react';
import { ApiError, api } from '../../api.ts';
import { notifyDone } from '../../ui/notify.ts';
import type { AnyReturn, Kind } from '../kinds.ts';
import { detailQuery, refetchReturns } from '../queries.ts';
import type { MoveDialog as MoveDialogType } from './move-dialog.tsx';
import type { MoveBody, StaffMove } from './moves.ts';

const loadDialog = () => import('./move-dialog.tsx');
const MoveDialog = lazy(() => loadDialog().then((m) => ({ default: m.MoveDialog }))) as typeof MoveDialogType;

interface Props<Item> {
  kind: Kind;
  item: Item;
  moves: readonly StaffMove<Item>[];
}

/** A button for each move that is open. The likely next move is highlighted. */
export const ReturnMoves = <Item extends AnyReturn>({ kind, item, moves }: Props<Item>) => {
  const { chosen, choose, send, conflict, dismissConflict } = useMove(kind, item);
  // Loads the dialog ahead, so that it opens even when the connection is lost.
  useEffect(() => void loadDialog(), []);
  const open = moves.filter((move) => move.isOpen(item));
  return (
    <>
      {conflict ? (
        <Alert
          color="orange"
          role="alert"
          title="Somebody was faster"
          withCloseButton
          closeButtonLabel="Dismiss"
          onClose={dismissConflict}
        >
          {conflict} What you see now is how it stands.
        </Alert>
      ) : null}
      <Group gap="xs" role="group" aria-label="What can be done">
        {open.map((move) => (
          <Button
            key={move.action}
            size="sm"
            variant={move.isNext(item) ? 'filled' : 'default'}
            {...(move.isRejection && !move.isNext(item) ? { c: 'var(--mantine-color-error)' } : {})}
            onClick={() => choose(move)}
          >
            {move.label}
          </Button>
        ))}
        {open.length === 0 ? (
          <Text size="sm" c="dimmed">
            This {kind.one} is finished: no move is open any more.
          </Text>
        ) : null}
      </Group>
      {chosen ? (
        <Suspense>
          <MoveDialog
            key={chosen.action}
            kind={kind}
            item={item}
            move={chosen}
            onSend={(body) => send({ move: chosen, body })}
            onClose={() => choose(null)}
          />
        </Suspense>
      ) : null}
    </>
  );
};

const useMove = <Item extends AnyReturn>(kind: Kind, item: Item) => {
  const queryClient = useQueryClient();
  const [chosen, setChosen] = useState<StaffMove<Item> | null>(null);
  const [conflict, setConflict] = useState<string | null>(null);
  const { mutateAsync: send } = useMutation({
    mutationFn: ({ move, body }: { move: StaffMove<Item>; body: MoveBody }) =>
      api.post<Item>(`${kind.path}/${item.id}/${move.action}`, body),
    onSuccess: (answer, { move }) => {
      setChosen(null);
      queryClient.setQueryData(detailQuery<Item>(kind, item.id).queryKey, answer);
      notifyDone(`${item.rmaNumber}: ${move.done.toLowerCase()}`);
    },
    onError: (error) => {
      if (!(error instanceof ApiError) || error.status !== 409) return;
      setChosen(null);
      setConflict(error.message);
    },
    onSettled: () => refetchReturns(queryClient, kind),
  });
  const dismissConflict = () => setConflict(null);
  const choose = (move: StaffMove<Item> | null) => {
    if (move) dismissConflict();
    setChosen(move);
  };
  return { chosen, choose, send, conflict, dismissConflict };
};
