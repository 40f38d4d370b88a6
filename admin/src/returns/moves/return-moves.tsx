import { Group, Text } from '@mantine/core';
import { lazy, Suspense, useEffect, useState } from 'react';
import { BlockableButton, useBlocked } from '../../session/blocked.tsx';
import { useSession } from '../../session/session.ts';
import { MenuButton, type MenuLine } from '../../ui/menu-button.tsx';
import { moveDraftName, wasInterrupted } from '../draft.tsx';
import type { AnyReturn, Kind } from '../kinds.ts';
import type { MoveDialog as MoveDialogType } from './move-dialog.tsx';
import type { StaffMove } from './moves.ts';

const loadDialog = () => import('./move-dialog.tsx');
const MoveDialog = lazy(() => loadDialog().then((m) => ({ default: m.MoveDialog }))) as typeof MoveDialogType;

interface Props<Item> {
  kind: Kind;
  item: Item;
  moves: readonly StaffMove<Item>[];
  /** More lines for the menu. */
  more: readonly MenuLine[];
}

/** The likely next move as a button, the others in a menu. */
export const ReturnMoves = <Item extends AnyReturn>({ kind, item, moves, more }: Props<Item>) => {
  const [chosen, choose] = useState(useInterruptedMove(item, moves));
  // Loads the dialog ahead, so that it opens even when the connection is lost.
  useEffect(() => void loadDialog(), []);
  const { changing } = useBlocked();
  const open = moves.filter((move) => move.isOpen(item));
  const next = open.find((move) => move.isNext(item));
  const others = open.filter((move) => move !== next);
  return (
    <>
      <Group gap="xs" role="group" aria-label="What can be done">
        {next ? (
          <BlockableButton blocked={changing} onClick={() => choose(next)}>
            {next.label}
          </BlockableButton>
        ) : null}
        {open.length === 0 ? (
          <Text size="sm" c="dimmed">
            This {kind.one} is finished: no move is open any more.
          </Text>
        ) : null}
        <MenuButton
          label="More"
          groups={[
            others.map((move) => ({
              label: move.label,
              dangerous: move.isRejection,
              blocked: changing,
              run: () => choose(move),
            })),
            more,
          ].filter((group) => group.length > 0)}
        />
      </Group>
      {chosen ? (
        <Suspense>
          <MoveDialog
            key={chosen.action}
            kind={kind}
            item={item}
            move={chosen}
            onClose={() => choose(undefined)}
          />
        </Suspense>
      ) : null}
    </>
  );
};

/** The move whose dialog was open when the page was reloaded or the session ended. */
const useInterruptedMove = <Item extends AnyReturn>(
  { id }: Item,
  moves: readonly StaffMove<Item>[],
): StaffMove<Item> | undefined => {
  const { user } = useSession();
  return moves.find(({ action }) => wasInterrupted(moveDraftName(id, action), user.id));
};
