import '@mantine/core/styles/List.css';
import { Alert, List, Stack, Text } from '@mantine/core';
import type { QueryClient } from '@tanstack/react-query';
import type { TimelineEntry } from '../../../../contract/common.ts';
import { MOVE_ENTRIES, type TimelineType } from '../../../../contract/lifecycle.ts';
import { ApiError } from '../../api.ts';
import { useSession } from '../../session/session.ts';
import { texts } from '../../texts.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { type AnyReturn, describeStatus, dispositionLabel, type Kind } from '../kinds.ts';
import { detailQuery, timelineQuery } from '../queries.ts';

// Two people on one return: the second one reads what the first one did, and decides.

const words = texts.moves;

export interface Conflict {
  entries: TimelineEntry[];
  status: string;
  updatedAt: string;
  /** The move is not open any more, so there is nothing to continue. */
  isOver: boolean;
}

const CONFLICTS = ['EDIT_CONFLICT', 'MOVE_NOT_ALLOWED'];
export const isConflict = (error: unknown): error is ApiError =>
  error instanceof ApiError && CONFLICTS.includes(error.body?.code ?? '');

/** Reads what happened to the return after the time that was on the screen. */
export const readConflict = async (
  queryClient: QueryClient,
  kind: Kind,
  id: string,
  seen: string,
  error: ApiError,
): Promise<Conflict> => {
  const now = await queryClient.fetchQuery({ ...detailQuery<AnyReturn>(kind, id), staleTime: 0 });
  const entries = await queryClient.fetchQuery({ ...timelineQuery(kind, id), staleTime: 0 });
  return {
    entries: entries.filter(({ at, type }) => at > seen && MOVE_ENTRIES.includes(type)),
    status: now.status,
    updatedAt: now.updatedAt,
    isOver: error.body?.code === 'MOVE_NOT_ALLOWED',
  };
};

interface Props {
  kind: Kind;
  conflict: Conflict;
  label: string;
}

export const ConflictAlert = ({ kind, conflict: { entries, status, isOver }, label }: Props) => {
  const { user } = useSession();
  const isOwn = entries.length > 0 && entries.every(({ actor }) => actor.id === user.id);
  return (
    <Alert color="orange" role="alert" title={isOwn ? words.ownConflict : words.conflict}>
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
          {isOver ? words.over(kind.one, describeStatus(status).label, label) : words.nothingDone}
        </Text>
      </Stack>
    </Alert>
  );
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** What a colleague did: "closed it". */
const SENTENCES: Partial<Record<TimelineType, (entry: TimelineEntry) => string>> = {
  TRACKING_UPLOADED: ({ data }) => words.changedTracking(textOf(data['trackingNumber'])),
  STATUS_CHANGED: ({ toStatus }) => words.changedStatus(describeStatus(toStatus ?? '').label),
  DISPOSITION_SET: ({ data }) => words.resolvedAs(dispositionLabel(textOf(data['offlineDisposition']))),
  CLOSED: () => words.closedIt,
  CREDIT_REQUESTED: () => words.requestedCredit,
  RESOLVED: () => words.resolvedIt,
  ITEMS_RECEIVED: () => words.countedIt,
};

const whatHappened = (entry: TimelineEntry): string => SENTENCES[entry.type]?.(entry) ?? words.changedIt;
