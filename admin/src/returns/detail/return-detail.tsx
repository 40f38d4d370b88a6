import { Button, Card, Grid, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Printer } from 'lucide-react';
import { lazy, type ReactNode, Suspense } from 'react';
import { ApiError } from '../../api.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { PageTitle } from '../../ui/page-title.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { BackToList } from '../back-link.tsx';
import type { AnyReturn, Kind } from '../kinds.ts';
import type { StaffMove } from '../moves/moves.ts';
import { ReturnMoves } from '../moves/return-moves.tsx';
import { detailQuery, timelineQuery } from '../queries.ts';
import { StatusBadge } from '../status-badge.tsx';
import { ReturnTimeline } from './timeline.tsx';

const AddNote = lazy(() => import('./add-note.tsx').then((m) => ({ default: m.AddNote })));

interface Props<Item> {
  kind: Kind;
  id: string;
  moves: readonly StaffMove<Item>[];
  /** Shown between the moves and the facts. */
  warning?: (item: Item) => ReactNode;
  facts(item: Item): ReactNode;
  slip(item: Item): ReactNode;
}

/** One return: its status, the moves that are open, its facts and its timeline. */
export const ReturnDetail = <Item extends AnyReturn>({
  kind,
  id,
  moves,
  warning,
  facts,
  slip,
}: Props<Item>) => {
  const detail = useQuery(detailQuery<Item>(kind, id));
  const item = detail.data;
  return (
    <Stack gap="md" pb="xl" maw={1250} className="not-printed">
      <BackToList kind={kind} />
      {detail.error && !item ? <PageTitle>{`No ${kind.one}`}</PageTitle> : null}
      {detail.error ? (
        <ErrorAlert
          title={item ? 'This may be out of date' : `This ${kind.one} could not be read`}
          error={detail.error}
          {...(isNotFound(detail.error) ? {} : { onRetry: () => void detail.refetch() })}
        />
      ) : null}
      {item ? (
        <>
          <Heading item={item} />
          <ReturnMoves kind={kind} item={item} moves={moves} />
          {warning?.(item)}
          <Grid gap="md">
            <Grid.Col span={{ base: 12, lg: 7 }}>
              <Stack gap="md">{facts(item)}</Stack>
            </Grid.Col>
            <Grid.Col span={{ base: 12, lg: 5 }}>
              <TimelineCard kind={kind} id={id} />
            </Grid.Col>
          </Grid>
          {slip(item)}
        </>
      ) : detail.isPending ? (
        <LoadingDetail />
      ) : null}
    </Stack>
  );
};

const isNotFound = (error: Error): boolean => error instanceof ApiError && error.status === 404;

const Heading = ({ item: { rmaNumber, status, createdAt, updatedAt } }: { item: AnyReturn }) => (
  <Group justify="space-between" gap="sm">
    <div>
      <Group gap="sm">
        <PageTitle>{rmaNumber}</PageTitle>
        <CopyButton text={rmaNumber} what={rmaNumber} variant="subtle" size="md" />
        <StatusBadge status={status} size="lg" />
      </Group>
      <Text size="sm" c="dimmed">
        Created <RelativeTime at={createdAt} />, last changed <RelativeTime at={updatedAt} />
      </Text>
    </div>
    <Button variant="default" leftSection={<Printer size={16} aria-hidden />} onClick={() => window.print()}>
      Print slip
    </Button>
  </Group>
);

const TimelineCard = ({ kind, id }: { kind: Kind; id: string }) => {
  const timeline = useQuery(timelineQuery(kind, id));
  return (
    <Card withBorder padding="md">
      <Title order={3} size="h5" mb="sm">
        Timeline
      </Title>
      <Stack gap="lg">
        <Suspense fallback={<Skeleton height={74} />}>
          <AddNote kind={kind} id={id} />
        </Suspense>
        {timeline.error ? (
          <ErrorAlert
            title="The timeline could not be read"
            error={timeline.error}
            onRetry={() => void timeline.refetch()}
          />
        ) : null}
        {timeline.isPending ? <Skeleton height={160} /> : null}
        {timeline.data ? <ReturnTimeline entries={timeline.data} /> : null}
      </Stack>
    </Card>
  );
};

const LoadingDetail = () => (
  <Stack gap="md" role="status" aria-label="Loading">
    <Skeleton height={48} maw={420} />
    <Skeleton height={36} maw={560} />
    <Skeleton height={320} />
  </Stack>
);
