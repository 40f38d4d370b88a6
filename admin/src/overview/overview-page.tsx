import { Card, Group, Progress, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { type ReactNode, Suspense } from 'react';
import type { Overview } from '../../../contract/admin.ts';
import { overviewQuery } from '../overview-query.ts';
import { countOf, REPAIRS, TRADE_RETURNS } from '../returns/kinds.ts';
import { describeStatus } from '../returns/labels.ts';
import { StatusBadge } from '../returns/status-badge.tsx';
import { useSession } from '../session/session.ts';
import { lazyOptional } from '../ui/lazy-optional.ts';
import { TextLink } from '../ui/links.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import plain from '../ui/plain-table.module.css';
import { RelativeTime } from '../ui/relative-time.tsx';
import { SecondLine } from '../ui/second-line.tsx';

const CreationsChart = lazyOptional(() =>
  import('./creations-chart.tsx').then((part) => part.CreationsChart),
);

type ListAddress = '/offline-repairs' | '/trade-returns';

export const OverviewPage = () => {
  const { data } = useSuspenseQuery(overviewQuery);
  return (
    <Stack>
      <PageTitle>Overview</PageTitle>
      <SimpleGrid cols={{ base: 2, lg: 4 }}>
        <Figure label="Open repairs" value={data.offlineRepairs.open} to="/offline-repairs" />
        <Figure label="Open trade returns" value={data.tradeReturns.open} to="/trade-returns" />
        <MonthCard month={data.month} />
        <WebhookCard webhooks={data.webhooks} />
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <ByStatus title="Offline repairs" counts={data.offlineRepairs} to="/offline-repairs" />
        <ByStatus title="Trade returns" counts={data.tradeReturns} to="/trade-returns" />
      </SimpleGrid>
      <Section title="Created per day, last 30 days">
        <Suspense fallback={<Skeleton h={220} />}>
          <CreationsChart days={data.createdPerDay} />
        </Suspense>
        <DayTable days={data.createdPerDay} />
      </Section>
      <OpenLongest returns={data.openLongest} />
    </Stack>
  );
};

const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <Card withBorder>
    <Title order={3} size="h5" mb="sm">
      {title}
    </Title>
    {children}
  </Card>
);

const Figure = ({ label, value, to }: { label: string; value: number; to: ListAddress }) => (
  <Card withBorder>
    <Text c="dimmed" size="sm">
      {label}
    </Text>
    <TextLink to={to} fz={32} fw={600} className="figures">
      {value.toLocaleString()}
    </TextLink>
  </Card>
);

/** What a card is about; those who may see what is behind it are led there. */
const ForAdmins = ({
  to,
  children,
}: {
  to: '/settings/plan' | '/settings/external-api';
  children: string;
}) =>
  useSession().user.role === 'ADMIN' ? (
    <TextLink to={to} size="sm">
      {children}
    </TextLink>
  ) : (
    <Text c="dimmed" size="sm">
      {children}
    </Text>
  );

const MonthCard = ({ month }: { month: Overview['month'] }) => {
  const share = month.limit ? Math.min(100, (month.used / month.limit) * 100) : 0;
  return (
    <Card withBorder>
      <ForAdmins to="/settings/plan">Created this month</ForAdmins>
      <Text fz={32} fw={600} className="figures">
        {month.used.toLocaleString()}
        <Text span c="dimmed" size="sm">
          {month.limit === null ? ' without a limit' : ` of ${month.limit.toLocaleString()}`}
        </Text>
      </Text>
      {month.limit === null ? null : (
        <Progress
          value={share}
          color={share >= 80 ? 'red' : 'blue'}
          aria-label="Share of the month's allowance that is used"
        />
      )}
    </Card>
  );
};

const WebhookCard = ({ webhooks: { delivered, dropped, waiting } }: { webhooks: Overview['webhooks'] }) => {
  const ended = delivered + dropped;
  return (
    <Card withBorder>
      <ForAdmins to="/settings/external-api">Webhooks, last 24 hours</ForAdmins>
      <Text fz={32} fw={600} className="figures">
        {ended === 0 ? 'None' : `${Math.floor((delivered / ended) * 100)} %`}
        <Text span c="dimmed" size="sm">
          {ended === 0 ? ' sent' : ' delivered'}
        </Text>
      </Text>
      <Text size="sm" c={dropped > 0 ? 'red' : 'dimmed'}>
        {delivered} delivered, {dropped} dropped, {waiting} waiting
      </Text>
    </Card>
  );
};

interface StatusCounts {
  byStatus: { status: string; count: number }[];
  open: number;
  openByAge: Overview['offlineRepairs']['openByAge'];
}

/** The quiet grey of what is closed would be lost as a bar. */
const barColour = (status: string): string => {
  const { color } = describeStatus(status);
  return color === 'gray' ? 'gray.6' : color;
};

const ByStatus = ({ title, counts, to }: { title: string; counts: StatusCounts; to: ListAddress }) => {
  const most = Math.max(1, ...counts.byStatus.map(({ count }) => count));
  return (
    <Section title={title}>
      <Stack gap={6}>
        {counts.byStatus.map(({ status, count }) => (
          <Group key={status} gap="sm" wrap="nowrap">
            <TextLink to={to} search={{ status }} size="sm" w={170}>
              {describeStatus(status).label}
            </TextLink>
            <Progress
              flex={1}
              value={(count / most) * 100}
              color={barColour(status)}
              aria-label={`${describeStatus(status).label}: ${count}`}
            />
            <Text size="sm" w={48} ta="right" className="figures">
              {count.toLocaleString()}
            </Text>
          </Group>
        ))}
      </Stack>
      <Text size="sm" c="dimmed" mt="sm">
        {counts.open === 0 ? 'Nothing is open.' : `Open for ${ages(counts.openByAge)}.`}{' '}
        <TextLink to={to} search={{ order: 'asc' }} inherit underline="always">
          Oldest first
        </TextLink>
      </Text>
    </Section>
  );
};

/** "a day or less: 1, up to 3 days: 4, longer: 2" */
const ages = (steps: StatusCounts['openByAge']): string =>
  steps
    .filter(({ count }) => count > 0)
    .map(({ upToDays, count }) => `${ageOf(upToDays)}: ${count.toLocaleString()}`)
    .join(', ');
const ageOf = (upToDays: number | null): string => {
  if (upToDays === null) return 'longer';
  return upToDays === 1 ? 'a day or less' : `up to ${upToDays} days`;
};

/** The chart's figures as text, for those who cannot see it. */
const DayTable = ({ days }: { days: Overview['createdPerDay'] }) => {
  const total = days.reduce((sum, each) => sum + each.offlineRepairs + each.tradeReturns, 0);
  return (
    <Text size="sm" c="dimmed" mt="xs">
      {total.toLocaleString()} in all; today {countOf(days.at(-1)?.offlineRepairs ?? 0, REPAIRS)} and{' '}
      {countOf(days.at(-1)?.tradeReturns ?? 0, TRADE_RETURNS)}.
    </Text>
  );
};

const ADDRESSES = { OFFLINE_REPAIR: '/offline-repairs/$id', TRADE_RETURN: '/trade-returns/$id' } as const;

const OpenLongest = ({ returns }: { returns: Overview['openLongest'] }) => (
  <Section title="Open longest">
    {returns.length === 0 ? (
      <Text c="dimmed">Nothing is open.</Text>
    ) : (
      <div className={plain['frame']}>
        <table className={plain['table']}>
          <thead>
            <tr>
              <th scope="col">Number</th>
              <th scope="col">Status</th>
              <th scope="col" className={plain['wide-only']}>
                Created
              </th>
              <th scope="col">Last change</th>
            </tr>
          </thead>
          <tbody>
            {returns.map((each) => (
              <tr key={each.id}>
                <td>
                  <TextLink
                    to={ADDRESSES[each.kind]}
                    params={{ id: each.id }}
                    size="sm"
                    fw={600}
                    style={{ whiteSpace: 'nowrap' }}
                  >
                    {each.rmaNumber}
                  </TextLink>
                  <SecondLine>{each.customerName}</SecondLine>
                </td>
                <td>
                  <StatusBadge status={each.status} />
                </td>
                <td className={plain['wide-only']}>
                  <RelativeTime at={each.createdAt} />
                </td>
                <td>
                  <RelativeTime at={each.updatedAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    )}
  </Section>
);
