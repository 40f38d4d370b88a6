import { Alert, Button, Group, List, Stack } from '@mantine/core';
import { TextLink } from '../../ui/links.tsx';
import { type AnyReturn, countOf, type Kind } from '../kinds.ts';
import { moveFailure } from './move-failure.ts';
import type { StaffMove } from './moves.ts';
import type { Outcome } from './run-for-each.ts';

interface Props<Item> {
  kind: Kind;
  move: StaffMove<Item>;
  outcomes: readonly Outcome<Item>[];
  /** How many should have been moved. */
  requested: number;
  onClose(): void;
}

/** How many were moved, and why others were not. */
export const BulkReport = <Item extends AnyReturn>({
  kind,
  move,
  outcomes,
  requested,
  onClose,
}: Props<Item>) => {
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
