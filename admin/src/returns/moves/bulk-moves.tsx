import { Button, Group, Paper, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { BlockableButton, useBlocked } from '../../session/blocked.tsx';
import { lazyPart } from '../../ui/lazy.tsx';
import { ButtonLink } from '../../ui/links.tsx';
import { type AnyReturn, countOf, type Kind } from '../kinds.ts';
import type { StaffMove } from './moves.ts';

const BulkDialog = lazyPart(async () => (await import('./bulk-dialog.tsx')).BulkDialog);

interface Props<Item> {
  kind: Kind;
  moves: readonly StaffMove<Item>[];
  selected: readonly Item[];
  onSelect(items: readonly Item[]): void;
  onAssign(): void;
}

export const BulkMoves = <Item extends AnyReturn>(props: Props<Item>) => {
  const { kind, moves, selected, onSelect, onAssign } = props;
  const [move, setMove] = useState<StaffMove<Item> | null>(null);
  const { changing } = useBlocked();
  // Loads the dialog ahead, so that it opens even when the connection is lost.
  useEffect(BulkDialog.preload, []);
  return (
    <Paper
      withBorder
      px="sm"
      py={6}
      bg="var(--mantine-primary-color-light)"
      shadow="md"
      // At the bottom of the screen, so that no row moves away from the pointer when it appears.
      pos="sticky"
      bottom={8}
      style={{ zIndex: 2 }}
      role="region"
      aria-label="Selected rows"
    >
      <Group gap="xs">
        <Text size="sm" fw={600} className="tabular-numbers" role="status" mr="xs">
          {countOf(selected.length, kind)} selected
        </Text>
        <Button size="xs" variant="default" onClick={onAssign}>
          Assign
        </Button>
        {moves.map((each) => {
          const open = selected.filter((item) => each.isOpen(item)).length;
          return (
            <BlockableButton
              key={each.action}
              blocked={changing}
              size="xs"
              variant="default"
              disabled={open === 0}
              onClick={() => setMove(each)}
            >
              {each.label}
              {open === selected.length ? '' : ` (${open})`}
            </BlockableButton>
          );
        })}
        <ButtonLink
          to="/print"
          search={{ kind: kind.path.slice(1), ids: selected.map(({ id }) => id).join() }}
          size="xs"
          variant="default"
        >
          Print slips
        </ButtonLink>
        <Button size="xs" variant="subtle" ml="auto" onClick={() => onSelect([])}>
          Clear selection
        </Button>
      </Group>
      {move ? (
        <BulkDialog
          kind={kind}
          move={move}
          selected={selected}
          onClose={(notMoved) => {
            setMove(null);
            if (notMoved) onSelect(notMoved);
          }}
        />
      ) : null}
    </Paper>
  );
};
