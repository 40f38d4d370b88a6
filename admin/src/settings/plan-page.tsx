import { Badge, Card, Group, Progress, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Overview } from '../../../contract/admin.ts';
import { PLANS_WITH_API } from '../../../contract/admin-plans.ts';
import { useSession } from '../session/session.ts';
import { overviewQuery, WARN_AT_PERCENT } from '../shop-queries.ts';
import { PageFrame, Section } from '../ui/page-frame.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { Hint } from '../ui/two-lines.tsx';
import { PLAN_NAMES } from './labels.ts';

type Month = Overview['month'];

export const PlanPage = () => {
  const { shop } = useSession();
  const overview = useQuery(overviewQuery);
  const name = PLAN_NAMES[shop.plan];
  const hasApi = PLANS_WITH_API.includes(shop.plan);
  const active = shop.subscription === 'active';
  return (
    <PageFrame
      title="Plan and usage"
      intro="What the shop has and how much of it is used. The operator of this service changes plan, subscription and figures."
    >
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Fact title="Plan" value={name}>
          {hasApi
            ? 'With the External API and webhooks.'
            : 'Without the External API: programs cannot call, and no webhooks are sent. The Scale and Enterprise plans have it.'}
        </Fact>
        <Fact
          title="Subscription"
          value={
            <Badge size="lg" variant="light" color={active ? 'green' : 'red'}>
              {active ? 'Active' : 'Inactive'}
            </Badge>
          }
        >
          {active
            ? 'Returns can be read, created and changed.'
            : 'Returns can be read, but not created or changed, until the subscription is active again.'}
        </Fact>
      </SimpleGrid>
      <QueryView query={overview}>{({ month }) => <Usage month={month} />}</QueryView>
    </PageFrame>
  );
};

const Fact = ({ title, value, children }: { title: string; value: ReactNode; children: ReactNode }) => (
  <Card withBorder component="section" aria-label={title}>
    <Stack gap={6}>
      <Title order={3} size="sm" fw={500}>
        {title}
      </Title>
      <Text size="xl" fw={600} component="div">
        {value}
      </Text>
      <Hint>{children}</Hint>
    </Stack>
  </Card>
);

const number = new Intl.NumberFormat('en');
const inUtc = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en', { ...options, timeZone: 'UTC' });
const monthName = inUtc({ month: 'long', year: 'numeric' });
const dayName = inUtc({ day: 'numeric', month: 'long' });

const Usage = ({ month }: { month: Month }) => {
  const start = new Date(`${month.month}-01T00:00:00Z`);
  const next = new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1));
  const { limit, used } = month;
  const percent = limit === null ? null : limit === 0 ? 100 : Math.min(100, (used / limit) * 100);
  const left = limit === null ? null : Math.max(0, limit - used);
  return (
    <Section title={monthName.format(start)} size="h4">
      <Stack gap="sm">
        <Group justify="space-between" align="baseline" className="tabular-numbers">
          <Text size="xl" fw={600}>
            {number.format(used)} {used === 1 ? 'return' : 'returns'}
          </Text>
          <Text>{limit === null ? 'No limit' : `of ${number.format(limit)}`}</Text>
        </Group>
        {percent === null ? null : (
          <Progress.Root size="lg">
            <Progress.Section
              value={percent}
              color={percent >= 100 ? 'red' : percent >= WARN_AT_PERCENT ? 'yellow' : 'blue'}
              aria-label={`${number.format(used)} of ${number.format(limit ?? 0)} returns used`}
            />
          </Progress.Root>
        )}
        {left === null ? null : (
          <Text>
            {number.format(left)} left until {dayName.format(next)}, 00:00 UTC, when the count starts again.
          </Text>
        )}
        <Title order={4} size="sm" mt="sm">
          How it is billed
        </Title>
        <Text size="sm">{billingText(month)}</Text>
        <Hint>Repairs and trade returns count alike, whether a program or a person makes them.</Hint>
      </Stack>
    </Section>
  );
};

const billingText = ({ billing, limit }: Month): string => {
  if (billing === 'ALLOWANCE')
    return limit === null
      ? 'By plan: new returns are included without a limit.'
      : `By plan: ${number.format(limit)} new returns a calendar month are included. Beyond that they are refused until the next month begins.`;
  return limit === null
    ? 'By use: each new return is billed, without a cap.'
    : `By use: each new return is billed, up to a cap of ${number.format(limit)} a calendar month. Beyond it they are refused until the next month begins.`;
};
