import { Badge, Progress, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Overview } from '../../../contract/admin.ts';
import { PLANS_WITH_API } from '../../../contract/admin-plans.ts';
import { dateFormat, formatNumber } from '../format.ts';
import { useSession } from '../session/session.ts';
import { overviewQuery, WARN_AT_PERCENT } from '../shop-queries.ts';
import { texts } from '../texts.ts';
import { wordFor } from '../ui/known-word.ts';
import { PageFrame, Section } from '../ui/page-frame.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { Hint } from '../ui/two-lines.tsx';
import { PLAN_NAMES } from './labels.ts';
import styles from './plan-page.module.css';

const t = texts.settings;

export const PlanPage = () => {
  const { shop } = useSession();
  const overview = useQuery(overviewQuery);
  const active = shop.subscription === 'active';
  return (
    <PageFrame title={t.plan} intro={t.planIntro}>
      <QueryView query={overview}>
        {({ month }) => (
          <Section title={monthName.format(startOf(month))} maw={720}>
            <Stack gap="lg">
              <Usage month={month} />
              <dl className={styles['facts']}>
                <Fact label={t.planLabel} value={wordFor(PLAN_NAMES, shop.plan)}>
                  {PLANS_WITH_API.includes(shop.plan) ? t.withApi : t.withoutApi}
                </Fact>
                <Fact
                  label={t.subscription}
                  value={active ? t.active : <Badge color="red">{t.inactive}</Badge>}
                >
                  {active ? t.activeHint : t.inactiveHint}
                </Fact>
                <Fact label={t.billing} value={billingText(month)}>
                  {t.whatCounts}
                </Fact>
                {month.limit === null ? null : (
                  <Fact label={t.atLimit} value={t.atLimitHint(wordFor(LIMIT_ERRORS, month.billing))} />
                )}
              </dl>
            </Stack>
          </Section>
        )}
      </QueryView>
    </PageFrame>
  );
};

type Month = Overview['month'];

/** What the external API answers at the limit (docs/contract.md). */
const LIMIT_ERRORS: Record<Month['billing'], string> = {
  ALLOWANCE: 'LIMIT_EXCEEDED',
  USAGE: 'USAGE_CAP_EXCEEDED',
};

const Fact = ({ label, value, children }: { label: string; value: ReactNode; children?: ReactNode }) => (
  <div>
    <dt>{label}</dt>
    <dd>
      {value}
      {children ? <Hint>{children}</Hint> : null}
    </dd>
  </div>
);

const inUtc = (options: Intl.DateTimeFormatOptions) => dateFormat({ ...options, timeZone: 'UTC' });
const monthName = inUtc({ month: 'long', year: 'numeric' });
const dayName = inUtc({ day: 'numeric', month: 'long' });

const startOf = ({ month }: Month): Date => new Date(`${month}-01T00:00:00Z`);

const nextMonth = (month: Month): Date => {
  const start = startOf(month);
  return new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1));
};

const colorAt = (percent: number): string => {
  if (percent >= 100) return 'red';
  return percent >= WARN_AT_PERCENT ? 'yellow' : 'blue';
};

const Usage = ({ month }: { month: Month }) => {
  const { limit, used } = month;
  const shown = formatNumber(used);
  return (
    <Stack gap="xs">
      <Text component="div" className="tabular-numbers">
        <Text span size="xl" fw={600}>
          {t.usedReturns(used, shown)}
        </Text>{' '}
        <Text span c="dimmed">
          {limit === null ? t.noLimit : t.usedOf(formatNumber(limit))}
        </Text>
      </Text>
      {limit === null ? null : <UsedOf month={month} limit={limit} />}
    </Stack>
  );
};

const UsedOf = ({ month, limit }: { month: Month; limit: number }) => {
  const { used } = month;
  const percent = limit === 0 ? 100 : Math.min(100, (used / limit) * 100);
  const left = formatNumber(Math.max(0, limit - used));
  return (
    <>
      <Progress.Root size="md">
        <Progress.Section
          value={percent}
          color={colorAt(percent)}
          aria-label={t.usedBar(formatNumber(used), formatNumber(limit))}
        />
      </Progress.Root>
      {used >= limit ? <Badge color="red">{t.limitReached}</Badge> : null}
      <Text size="sm">{t.leftUntil(left, dayName.format(nextMonth(month)))}</Text>
    </>
  );
};

const billingText = ({ billing, limit }: Month): string =>
  (billing === 'ALLOWANCE' ? t.byPlan : t.byUse)(limit === null ? null : formatNumber(limit));
