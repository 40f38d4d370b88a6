import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { OwnSession, OwnSessions } from '../../../contract/admin-access.ts';
import { api } from '../api.ts';
import { DataTable } from '../ui/data-table.tsx';
import { FormFailure } from '../ui/error-alert.tsx';
import { notifyDone } from '../ui/notify.ts';
import { Section } from '../ui/page-frame.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';

export const ownSessionsQuery = queryOptions({
  queryKey: ['own-sessions'],
  queryFn: () => api.get<OwnSessions>('/session/sessions'),
});

/** Where the person is signed in, so that they see a session that is not theirs and end it. */
export const OwnSessionsCard = () => {
  const sessions = useQuery(ownSessionsQuery);
  const queryClient = useQueryClient();
  const end = useMutation({
    // null: all but this one.
    mutationFn: (session: OwnSession | null) =>
      api.delete<null>(session ? `/session/sessions/${session.id}` : '/session/sessions'),
    onSuccess: (_answer, session) =>
      notifyDone(session ? `${nameOf(session)} is signed out.` : 'You are signed out everywhere else.'),
    onSettled: () => queryClient.invalidateQueries(ownSessionsQuery),
  });
  return (
    <Section title="Where you are signed in" size="h4" maw={720}>
      <Stack>
        <FormFailure failure={end.error} />
        <QueryView query={sessions}>
          {({ items }) => (
            <>
              <SessionTable sessions={items} onEnd={end.mutate} />
              {items.length > 1 ? (
                <Group gap="sm">
                  <Button variant="default" onClick={() => end.mutate(null)} loading={end.isPending}>
                    Sign out everywhere else
                  </Button>
                  <Text size="sm" c="dimmed">
                    Do you not recognize one of these? Sign it out, then change your password.
                  </Text>
                </Group>
              ) : null}
            </>
          )}
        </QueryView>
      </Stack>
    </Section>
  );
};

const nameOf = ({ browser }: OwnSession): string => browser ?? 'Unknown browser';

const SessionTable = ({
  sessions,
  onEnd,
}: {
  sessions: readonly OwnSession[];
  onEnd: (session: OwnSession) => void;
}) => (
  <DataTable
    caption="Your sessions, the one used last first"
    columns={[
      {
        header: 'Browser',
        width: '45%',
        cell: (session) => (
          <Group gap="xs" component="span">
            {nameOf(session)}
            {session.isCurrent ? <Badge variant="default">This one</Badge> : null}
          </Group>
        ),
      },
      { header: 'Address', cell: ({ address }) => address },
      { header: 'Last use', noWrap: true, cell: ({ lastUsedAt }) => <RelativeTime at={lastUsedAt} /> },
    ]}
    rows={sessions}
    nameOf={nameOf}
    actions={(session) =>
      session.isCurrent ? null : (
        <Button
          size="xs"
          variant="default"
          aria-label={`Sign out ${nameOf(session)} at ${session.address}`}
          onClick={() => onEnd(session)}
        >
          Sign out
        </Button>
      )
    }
  />
);
