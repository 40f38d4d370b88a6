import { SimpleGrid, Skeleton, Stack, Text } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import type { Overview } from '../../../contract/admin.ts';
import { overviewQuery } from '../overview-query.ts';
import { countOf, REPAIRS, TRADE_RETURNS } from '../returns/kinds.ts';
import { lazyOptional } from '../ui/lazy-optional.ts';
import { PageTitle } from '../ui/page-title.tsx';
import { ByStatus } from './by-status.tsx';
import { CountCard, MonthCard, WebhookCard } from './cards.tsx';
import { OpenLongest } from './open-longest.tsx';
import { Section } from './section.tsx';

const CreationsChart = lazyOptional(() =>
  import('./creations-chart.tsx').then((module) => module.CreationsChart),
);

export const OverviewPage = () => {
  const { data } = useSuspenseQuery(overviewQuery);
  return (
    <Stack>
      <PageTitle>Overview</PageTitle>
      <SimpleGrid cols={{ base: 2, lg: 4 }}>
        <CountCard label="Open repairs" value={data.offlineRepairs.open} to="/offline-repairs" />
        <CountCard label="Open trade returns" value={data.tradeReturns.open} to="/trade-returns" />
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
        <ChartSummary days={data.createdPerDay} />
      </Section>
      <OpenLongest returns={data.openLongest} />
    </Stack>
  );
};

/** The chart in words, for people who cannot see it. */
const ChartSummary = ({ days }: { days: Overview['createdPerDay'] }) => {
  const total = days.reduce((sum, each) => sum + each.offlineRepairs + each.tradeReturns, 0);
  return (
    <Text size="sm" c="dimmed" mt="xs">
      {total.toLocaleString()} in all; today {countOf(days.at(-1)?.offlineRepairs ?? 0, REPAIRS)} and{' '}
      {countOf(days.at(-1)?.tradeReturns ?? 0, TRADE_RETURNS)}.
    </Text>
  );
};
