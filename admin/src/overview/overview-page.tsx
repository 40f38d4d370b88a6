import { Alert, Card, Progress, SimpleGrid, Stack, Text } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CircleDot, Clock, type LucideIcon, TriangleAlert, UserRound, UserRoundX } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Overview } from '../../../contract/admin.ts';
import type { ListSearch } from '../list-search.ts';
import { StatusBadge } from '../returns/badges.tsx';
import { KIND_OF, KINDS } from '../returns/kinds.ts';
import { useSession } from '../session/session.ts';
import { overviewQuery, WARN_AT_PERCENT } from '../shop-queries.ts';
import { TextLink } from '../ui/links.tsx';
import { PageTitle, Section } from '../ui/page-frame.tsx';
import { columnClass, NarrowOnly, PlainTable, TableFrame } from '../ui/plain-table.tsx';
import { formatSpan, RelativeTime } from '../ui/relative-time.tsx';
import { OrErased, SecondLine, TwoLines } from '../ui/two-lines.tsx';
import { ChartLegend, CreationsChart, KindBars } from './charts.tsx';
import { Checklist } from './checklist.tsx';
import styles from './overview.module.css';

const hasReturns = (overview: Overview): boolean =>
  KINDS.some((kind) => overview[kind.overview].byStatus.some(({ count }) => count > 0));

export const OverviewPage = () => {
  const { data } = useSuspenseQuery(overviewQuery);
  const { user } = useSession();
  return (
    <Stack pb="xl">
      <PageTitle>Overview</PageTitle>
      {data.failingReceivers?.length ? <FailingReceivers receivers={data.failingReceivers} /> : null}
      {hasReturns(data) ? <Work overview={data} isAdmin={user.role === 'ADMIN'} /> : <Checklist />}
    </Stack>
  );
};

const FailingReceivers = ({ receivers }: { receivers: NonNullable<Overview['failingReceivers']> }) => (
  <Alert color="red" role="status" title="Webhooks keep failing" icon={<TriangleAlert aria-hidden />}>
    <ul className={styles['dropped']}>
      {receivers.map(({ clientId, name, since, lastError }) => (
        <li key={clientId}>
          {name} has accepted no event for {formatSpan(Date.parse(since), Date.now())}. Last error:{' '}
          {lastError}.{' '}
          <TextLink
            to="/settings/external-api/$id"
            params={{ id: clientId }}
            aria-label={`Deliveries to ${name}`}
            c="inherit"
            inherit
            underline="always"
          >
            Deliveries
          </TextLink>
        </li>
      ))}
    </ul>
  </Alert>
);

const Work = ({ overview, isAdmin }: { overview: Overview; isAdmin: boolean }) => (
  <>
    <WorkTiles overview={overview} />
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      {KINDS.map((kind) => (
        <KindBars key={kind.path} kind={kind} overview={overview} />
      ))}
    </SimpleGrid>
    <OpenLongest returns={overview.openLongest} />
    <Section title="Created per day, last 30 days">
      <Stack gap="xs">
        <ChartLegend days={overview.createdPerDay} />
        <CreationsChart days={overview.createdPerDay} />
      </Stack>
    </Section>
    {isAdmin ? <AdminCards overview={overview} /> : null}
  </>
);

type Figure = 'mine' | 'overdue' | 'unassigned' | 'open';

/** Each figure with the filters of the list that shows exactly its rows. */
const TILES: readonly { figure: Figure; label: string; icon: LucideIcon; search: ListSearch }[] = [
  { figure: 'mine', label: 'My work', icon: UserRound, search: { assignee: 'me' } },
  { figure: 'overdue', label: 'Overdue', icon: Clock, search: { overdue: true } },
  { figure: 'unassigned', label: 'Unassigned', icon: UserRoundX, search: { assignee: 'none' } },
  { figure: 'open', label: 'Open', icon: CircleDot, search: {} },
];

const WorkTiles = ({ overview }: { overview: Overview }) => (
  <SimpleGrid cols={{ base: 2, lg: 4 }}>
    {TILES.map(({ figure, label, icon: Icon, search }) => (
      <Card key={figure} withBorder padding="md" component="section" aria-label={label}>
        <Text c="dimmed" size="sm" fw={500} className={styles['label'] ?? ''}>
          <Icon size={16} aria-hidden /> {label}
        </Text>
        {KINDS.map((kind) => {
          const count = overview[kind.overview][figure];
          return (
            <Link
              key={kind.path}
              to={kind.path}
              search={search}
              className={styles['figure'] ?? ''}
              preload={false}
            >
              <span
                className={styles['number']}
                data-late={(figure === 'overdue' && count > 0) || undefined}
                data-none={count === 0 || undefined}
              >
                {count.toLocaleString()}
              </span>{' '}
              <span className={styles['noun']}>{count === 1 ? kind.one : kind.many}</span>
            </Link>
          );
        })}
      </Card>
    ))}
  </SimpleGrid>
);

const OpenLongest = ({ returns }: { returns: Overview['openLongest'] }) => (
  <Section title="Open longest">
    {returns.length === 0 ? (
      <Text c="dimmed">Nothing is open.</Text>
    ) : (
      <TableFrame>
        <PlainTable
          rows={returns}
          keyOf={({ id }) => id}
          columns={[
            {
              header: 'Number',
              cell: ({ kind, id, rmaNumber, customerName }) => (
                <TwoLines
                  first={
                    <TextLink to={KIND_OF[kind].detail} params={{ id }} size="sm" fw={600}>
                      {rmaNumber}
                    </TextLink>
                  }
                  second={<OrErased>{customerName}</OrErased>}
                />
              ),
            },
            {
              header: 'Status',
              cell: ({ status, createdAt }) => (
                <>
                  <StatusBadge status={status} />
                  <NarrowOnly>
                    <SecondLine>
                      Created <RelativeTime at={createdAt} />
                    </SecondLine>
                  </NarrowOnly>
                </>
              ),
            },
            {
              header: 'Created',
              className: columnClass('wide-only'),
              cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
            },
            {
              header: 'Last change',
              className: columnClass('wide-only'),
              cell: ({ updatedAt }) => <RelativeTime at={updatedAt} />,
            },
          ]}
        />
      </TableFrame>
    )}
  </Section>
);

const AdminCards = ({ overview }: { overview: Overview }) => (
  <SimpleGrid cols={{ base: 1, sm: 2 }}>
    <MonthCard month={overview.month} />
    <WebhookCard overview={overview} />
  </SimpleGrid>
);

interface FigureProps {
  to: '/settings/plan' | '/settings/external-api';
  label: string;
  figure: string;
  unit: string;
  children: ReactNode;
}

const FigureCard = ({ to, label, figure, unit, children }: FigureProps) => (
  <Card withBorder>
    <TextLink to={to} size="sm">
      {label}
    </TextLink>
    <Text className={styles['number'] ?? ''}>
      {figure}
      <Text span c="dimmed" size="sm" fw={400} className={styles['unit'] ?? ''}>
        {unit}
      </Text>
    </Text>
    {children}
  </Card>
);

const MonthCard = ({ month: { used, limit } }: { month: Overview['month'] }) => {
  const percent = limit ? Math.min(100, (used / limit) * 100) : 0;
  return (
    <FigureCard
      to="/settings/plan"
      label="Created this month"
      figure={used.toLocaleString()}
      unit={limit === null ? ' without a limit' : ` of ${limit.toLocaleString()}`}
    >
      {limit === null ? null : (
        <Progress
          value={percent}
          color={percent >= WARN_AT_PERCENT ? 'red' : 'blue'}
          aria-label="Share of the month's allowance that is used"
        />
      )}
    </FigureCard>
  );
};

const WebhookCard = ({ overview: { webhooks, droppedByClient } }: { overview: Overview }) => {
  const { delivered, dropped, waiting } = webhooks;
  const ended = delivered + dropped;
  return (
    <FigureCard
      to="/settings/external-api"
      label="Webhooks, last 24 hours"
      figure={ended === 0 ? 'None' : `${Math.floor((delivered / ended) * 100)} %`}
      unit={`${ended === 0 ? ' sent' : ' delivered'}${waiting > 0 ? `, ${waiting.toLocaleString()} waiting` : ''}`}
    >
      <ul className={styles['dropped']}>
        {droppedByClient?.map(({ clientId, name, dropped: count }) => (
          <li key={clientId}>
            <TextLink
              to="/settings/external-api/$id"
              params={{ id: clientId }}
              search={{ status: 'DROPPED' }}
              size="sm"
              c="var(--mantine-color-error)"
              fw={600}
            >
              {name}: {count.toLocaleString()} given up
            </TextLink>
          </li>
        ))}
      </ul>
    </FigureCard>
  );
};
