import { Alert, List, Stack, Text } from '@mantine/core';
import { RelativeTime } from '../../ui/relative-time.tsx';
import type { Kind } from '../kinds.ts';
import { describeStatus } from '../labels.ts';
import type { Conflict } from './use-staff-move.ts';
import { whatHappened } from './what-happened.ts';

interface Props {
  kind: Kind;
  conflict: Conflict;
  /** What the button of the move says. */
  label: string;
}

/** Tells who did what while the dialog was open. */
export const ConflictAlert = ({ kind, conflict: { entries, status, isOver }, label }: Props) => (
  <Alert color="orange" role="alert" title="Somebody was faster">
    <Stack gap="xs">
      {entries.length > 0 ? (
        <List size="sm">
          {entries.map((entry) => (
            <List.Item key={entry.id}>
              <strong>{entry.actor.name}</strong> {whatHappened(entry)} <RelativeTime at={entry.at} />.
            </List.Item>
          ))}
        </List>
      ) : null}
      <Text size="sm">
        {isOver
          ? `The ${kind.one} is now “${describeStatus(status).label}”, so “${label}” is not possible any more. What you typed is still here.`
          : 'Nothing was done yet, and what you typed is still here.'}
      </Text>
    </Stack>
  </Alert>
);
