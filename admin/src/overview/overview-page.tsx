import { SimpleGrid, Stack } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import type { Overview } from '../../../contract/admin.ts';
import { overviewQuery } from '../overview-query.ts';
import { REPAIRS, TRADE_RETURNS } from '../returns/kinds.ts';
import { useSession } from '../session/session.ts';
import { PageTitle } from '../ui/page-title.tsx';
import { AdminCards } from './admin-cards.tsx';
import { Checklist } from './checklist.tsx';
import { ChartLegend, CreationsChart } from './creations-chart.tsx';
import { KindBars } from './kind-bars.tsx';
import { OpenLongest } from './open-longest.tsx';
import { Section } from './section.tsx';
import { WorkTiles } from './work-tiles.tsx';

const hasReturns = (overview: Overview): boolean =>
  [REPAIRS, TRADE_RETURNS].some((kind) => overview[kind.overview].byStatus.some(({ count }) => count > 0));

export const OverviewPage = () => {
  const { data } = useSuspenseQuery(overviewQuery);
  const { user } = useSession();
  return (
    <Stack pb="xl">
      <PageTitle>Overview</PageTitle>
      {hasReturns(data) ? <Work overview={data} isAdmin={user.role === 'ADMIN'} /> : <Checklist />}
    </Stack>
  );
};

const Work = ({ overview, isAdmin }: { overview: Overview; isAdmin: boolean }) => (
  <>
    <WorkTiles overview={overview} />
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <KindBars kind={REPAIRS} overview={overview} />
      <KindBars kind={TRADE_RETURNS} overview={overview} />
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
