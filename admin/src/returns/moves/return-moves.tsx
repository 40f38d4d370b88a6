import { Button, Group } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { ChevronDown } from 'lucide-react';
import { useEffect, useState } from 'react';
import { BlockableButton, useBlocked } from '../../session/blocked.tsx';
import { useSession } from '../../session/session.ts';
import type { MenuAction } from '../../ui/action-menu.tsx';
import { lazyPart } from '../../ui/lazy.tsx';
import { Hint } from '../../ui/two-lines.tsx';
import { moveDraftName, wasInterrupted } from '../draft.tsx';
import type { AnyReturn, Kind } from '../kinds.ts';
import type { StaffMove } from './moves.ts';

/** With what places it, the library's menu is 34 kB. */
const ActionMenu = lazyPart(
  async () => (await import('../../ui/action-menu.tsx')).ActionMenu,
  () => (
    <Button variant="default" disabled rightSection={<ChevronDown size={16} aria-hidden />}>
      More
    </Button>
  ),
);
const MoveDialog = lazyPart(async () => (await import('./move-dialog.tsx')).MoveDialog);

interface Props<Item> {
  kind: Kind;
  item: Item;
  moves: readonly StaffMove<Item>[];
  more: readonly MenuAction[];
}

export const ReturnMoves = <Item extends AnyReturn>({ kind, item, moves, more }: Props<Item>) => {
  const [chosen, choose] = useState(useInterruptedMove(item, moves));
  // Loads the dialog ahead, so that it opens even when the connection is lost.
  useEffect(MoveDialog.preload, []);
  const { changing } = useBlocked();
  const navigate = useNavigate();
  const start = (move: StaffMove<Item>) =>
    move.page ? void navigate({ to: move.page, params: { id: item.id } }) : choose(move);
  const open = moves.filter((move) => move.isOpen(item));
  const next = open.find((move) => move.isNext(item));
  const others = open.filter((move) => move !== next);
  return (
    <>
      <Group gap="xs" role="group" aria-label="What can be done">
        {next ? (
          <BlockableButton blocked={changing} onClick={() => start(next)}>
            {next.label}
          </BlockableButton>
        ) : null}
        {open.length === 0 ? <Hint>This {kind.one} is finished: no move is open any more.</Hint> : null}
        <ActionMenu
          groups={[
            others.map((move) => ({
              label: move.label,
              dangerous: move.isRejection,
              blocked: changing,
              run: () => start(move),
            })),
            more,
          ]}
        />
      </Group>
      {chosen ? (
        <MoveDialog
          key={chosen.action}
          kind={kind}
          item={item}
          move={chosen}
          onClose={() => choose(undefined)}
        />
      ) : null}
    </>
  );
};

const useInterruptedMove = <Item extends AnyReturn>(
  { id }: Item,
  moves: readonly StaffMove<Item>[],
): StaffMove<Item> | undefined => {
  const { user } = useSession();
  return moves.find(({ action, page }) => !page && wasInterrupted(moveDraftName(id, action), user.id));
};
