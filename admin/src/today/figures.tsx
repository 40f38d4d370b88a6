import { Progress, SimpleGrid, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Overview } from '../../../contract/admin.ts';
import { formatNumber } from '../format.ts';
import { StatusBadge } from '../returns/badges.tsx';
import { KIND_OF, KINDS, ofKnownKinds } from '../returns/kinds.ts';
import { useSession } from '../session/session.ts';
import { WARN_AT_PERCENT } from '../shop-queries.ts';
import { texts } from '../texts.ts';
import { TextLink } from '../ui/links.tsx';
import { Section } from '../ui/page-frame.tsx';
import { columnClass, PlainTable } from '../ui/plain-table.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';
import { OrErased, TwoLines } from '../ui/two-lines.tsx';
import { ChartLegend, CreationsChart, KindBars } from './charts.tsx';
import styles from './today.module.css';

/** The second tab: how much there is, how old it is, how much comes in. */
export const Figures = ({ overview }: { overview: Overview }) => {
  const { user } = useSession();
  return (
    <Stack gap="lg">
      <div className={styles['columns']}>
        {KINDS.map((kind) => (
          <KindBars key={kind.path} kind={kind} overview={overview} />
        ))}
      </div>
      <OpenLongest returns={overview.openLongest} />
      <Section title={texts.today.createdPerDay}>
        <Stack gap="xs">
          <ChartLegend days={overview.createdPerDay} />
          <CreationsChart days={overview.createdPerDay} />
        </Stack>
      </Section>
      {user.role === 'ADMIN' ? (
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <MonthFigure month={overview.month} />
          <WebhookFigure overview={overview} />
        </SimpleGrid>
      ) : null}
    </Stack>
  );
};

const OpenLongest = ({ returns }: { returns: Overview['openLongest'] }) => (
  <Section title={texts.today.oldestOpen}>
    {returns.length === 0 ? (
      <Text c="dimmed">{texts.today.nothingOpen}</Text>
    ) : (
      <PlainTable
        className={styles['oldest']}
        rows={ofKnownKinds(returns)}
        keyOf={({ id }) => id}
        columns={[
          {
            header: texts.today.number,
            isName: true,
            head: { style: { width: '6.5rem' } },
            cell: ({ kind, id, rmaNumber }) => (
              <TextLink to={KIND_OF[kind].detail} params={{ id }} className={styles['rma'] ?? ''}>
                {rmaNumber}
              </TextLink>
            ),
          },
          {
            header: texts.today.item,
            cell: ({ title, customerName }) => (
              <TwoLines first={title} second={<OrErased>{customerName}</OrErased>} />
            ),
          },
          {
            header: texts.today.status,
            head: { style: { width: '10rem' } },
            className: columnClass('wide-only'),
            cell: ({ status, isPartlyReceived: isPartly }) => (
              <StatusBadge status={status} isPartly={isPartly} />
            ),
          },
          {
            header: texts.today.age,
            head: { style: { width: '6.5rem' } },
            cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
          },
          {
            header: texts.today.lastChange,
            head: { style: { width: '8rem' } },
            className: columnClass('wide-only'),
            cell: ({ updatedAt }) => <RelativeTime at={updatedAt} />,
          },
        ]}
      />
    )}
  </Section>
);

interface FigureProps {
  to: '/settings/plan' | '/settings/external-api';
  label: string;
  figure: string;
  unit: string;
  children: ReactNode;
}

const AdminFigure = ({ to, label, figure, unit, children }: FigureProps) => (
  <section className={styles['admin-figure']}>
    <TextLink to={to} size="sm">
      {label}
    </TextLink>
    <p>
      <span className={styles['number']}>{figure}</span> <span className={styles['noun']}>{unit}</span>
    </p>
    {children}
  </section>
);

const MonthFigure = ({ month: { used, limit } }: { month: Overview['month'] }) => {
  const percent = limit ? Math.min(100, (used / limit) * 100) : 0;
  return (
    <AdminFigure
      to="/settings/plan"
      label={texts.today.createdThisMonth}
      figure={formatNumber(used)}
      unit={limit === null ? texts.today.noLimit : texts.today.ofLimit(formatNumber(limit))}
    >
      {limit === null ? null : (
        <Progress
          size="sm"
          value={percent}
          color={percent >= WARN_AT_PERCENT ? 'red' : 'blue'}
          aria-label={texts.today.monthShare}
        />
      )}
    </AdminFigure>
  );
};

const WebhookFigure = ({ overview: { webhooks, droppedByClient } }: { overview: Overview }) => {
  const { delivered, dropped, waiting } = webhooks;
  const ended = delivered + dropped;
  const unit = ended === 0 ? texts.today.webhooksSent : texts.today.webhooksDelivered;
  return (
    <AdminFigure
      to="/settings/external-api"
      label={texts.today.webhooks}
      figure={ended === 0 ? texts.today.noWebhooks : `${Math.floor((delivered / ended) * 100)} %`}
      unit={`${unit}${waiting > 0 ? texts.today.webhooksWaiting(formatNumber(waiting)) : ''}`}
    >
      <ul>
        {droppedByClient?.map(({ clientId, name, dropped: count }) => (
          <li key={clientId}>
            <TextLink
              to="/settings/external-api/$id"
              params={{ id: clientId }}
              search={{ status: 'DROPPED' }}
              size="sm"
              c="var(--mantine-color-error)"
            >
              {texts.today.webhooksFailed(name, formatNumber(count))}
            </TextLink>
          </li>
        ))}
      </ul>
    </AdminFigure>
  );
};
