import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ChevronDown } from 'lucide-react';
import { type KeyboardEvent, type MouseEvent, useEffect, useRef, useState } from 'react';
import { errorMessage } from '../../api.ts';
import { BlockableButton, useBlocked } from '../../session/blocked.tsx';
import { useSession } from '../../session/session.ts';
import { texts } from '../../texts.ts';
import type { MenuAction } from '../../ui/action-menu.tsx';
import { lazyPart } from '../../ui/lazy.tsx';
import { notify } from '../../ui/notify.ts';
import { Hint } from '../../ui/two-lines.tsx';
import { moveDraftName, wasInterrupted } from '../draft.tsx';
import type { AnyReturn, Kind } from '../kinds.ts';
import { refetchReturns } from '../queries.ts';
import { type Conflict, isConflict, readConflict } from './conflict.tsx';
import { isOneClick, type StaffMove } from './moves.ts';
import styles from './return-moves.module.css';
import { sendMove, useMoved } from './toasts.tsx';

const words = texts.moves;

/** With what places it, the library's menu is 34 kB. */
const ActionMenu = lazyPart(
  async () => (await import('../../ui/action-menu.tsx')).ActionMenu,
  () => (
    <Button variant="default" disabled rightSection={<ChevronDown />}>
      {words.more}
    </Button>
  ),
);
const MoveDialog = lazyPart(async () => (await import('./move-dialog.tsx')).MoveDialog);

export interface MovesProps<Item> {
  kind: Kind;
  item: Item;
  moves: readonly StaffMove<Item>[];
  more: readonly MenuAction[];
}

interface Chosen<Item> {
  move: StaffMove<Item>;
  found?: Conflict;
}

/** The likely next move as a button that has the same place and width on every return, the others in a menu beside it. */
export const ReturnMoves = <Item extends AnyReturn>({ kind, item, moves, more }: MovesProps<Item>) => {
  const [chosen, choose] = useState<Chosen<Item> | null>(useInterruptedMove(item, moves));
  // Loads the dialog ahead, so that it opens even when the connection is lost.
  useEffect(MoveDialog.preload, []);
  const blocked = useBlocked();
  const navigate = useNavigate();
  const atOnce = useMoveAtOnce(kind, item, choose);
  const start = (move: StaffMove<Item>) => {
    if (move.page) void navigate({ to: move.page, params: { id: item.id } });
    else if (isOneClick(move, item)) atOnce.mutate(move);
    else choose({ move });
  };
  const open = moves.filter((move) => move.isOpen(item));
  const next = open.find((move) => move.isNext(item));
  const inMenu = (move: StaffMove<Item>, label = move.label, run = () => start(move)): MenuAction => ({
    label,
    dangerous: move.isRejection,
    blocked,
    run,
  });
  const hasMore = next && isOneClick(next, item) && next.fields.length > 0;
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for inputs */}
      <div className={styles['moves']} role="group" aria-label={words.label}>
        {next ? (
          <BlockableButton
            className={styles['next']}
            blocked={blocked}
            aria-busy={atOnce.isPending}
            onKeyDown={notRepeated}
            onClick={(event) => isFirstClick(event) && !atOnce.isPending && start(next)}
          >
            {next.label}
          </BlockableButton>
        ) : null}
        {open.length === 0 ? <Hint>{words.finished(kind.one)}</Hint> : null}
        <ActionMenu
          groups={[
            hasMore ? [inMenu(next, words.withNotes(next.label), () => choose({ move: next }))] : [],
            open.filter((move) => move !== next).map((move) => inMenu(move)),
            more,
          ]}
        />
      </div>
      {chosen ? (
        <MoveDialog
          key={chosen.move.action}
          kind={kind}
          item={item}
          move={chosen.move}
          found={chosen.found}
          onClose={() => choose(null)}
        />
      ) : null}
    </>
  );
};

/** The next move takes the button's place: the second click of a double click, or a key held down, must not make that one too. */
const isFirstClick = ({ detail }: MouseEvent): boolean => detail <= 1;
const notRepeated = (event: KeyboardEvent): void => {
  if (event.repeat) event.preventDefault();
};

const useMoveAtOnce = <Item extends AnyReturn>(
  kind: Kind,
  item: Item,
  onConflict: (found: Chosen<Item>) => void,
) => {
  const queryClient = useQueryClient();
  const moved = useMoved(kind);
  const { id, rmaNumber, updatedAt } = item;
  /** A person who walked on to the next return cannot be asked any more, but reads that it failed. */
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  const atOnce = useMutation({
    mutationFn: ({ action }: StaffMove<Item>) => sendMove(kind, id, action, {}, updatedAt),
    onSuccess: (after, move) => moved(item, after, move),
    onError: async (error, move): Promise<void> => {
      const found =
        isConflict(error) && isShown.current
          ? await readConflict(queryClient, kind, id, updatedAt, error).catch(() => null)
          : null;
      if (found) return onConflict({ move, found });
      await notify({
        color: 'red',
        title: words.notDone(rmaNumber, move.label),
        message: isConflict(error) ? words.changedMeanwhile : errorMessage(error),
        actions: isConflict(error) ? [] : [{ label: words.tryAgain, run: () => atOnce.mutate(move) }],
      });
    },
    // Not waited for: the button is the next move's already, and a click on it would be lost.
    onSettled: () => void refetchReturns(queryClient, kind),
  });
  return atOnce;
};

const useInterruptedMove = <Item extends AnyReturn>(
  { id }: Item,
  moves: readonly StaffMove<Item>[],
): Chosen<Item> | null => {
  const { user } = useSession();
  const move = moves.find(({ action, page }) => !page && wasInterrupted(moveDraftName(id, action), user.id));
  return move ? { move } : null;
};
