import { Card, Progress, Text } from '@mantine/core';
import type { Overview } from '../../../contract/admin.ts';
import { WARN_AT_PERCENT } from '../overview-query.ts';
import { useSession } from '../session/session.ts';
import { TextLink } from '../ui/links.tsx';

interface CountProps {
  label: string;
  value: number;
  to: '/offline-repairs' | '/trade-returns';
}

export const CountCard = ({ label, value, to }: CountProps) => (
  <Card withBorder>
    <Text c="dimmed" size="sm">
      {label}
    </Text>
    <TextLink to={to} fz={32} fw={600} className="tabular-numbers">
      {value.toLocaleString()}
    </TextLink>
  </Card>
);

interface AdminLinkProps {
  to: '/settings/plan' | '/settings/external-api';
  children: string;
}

/** A card's title, which links to the settings for those who may see them. */
const AdminLink = ({ to, children }: AdminLinkProps) =>
  useSession().user.role === 'ADMIN' ? (
    <TextLink to={to} size="sm">
      {children}
    </TextLink>
  ) : (
    <Text c="dimmed" size="sm">
      {children}
    </Text>
  );

export const MonthCard = ({ month }: { month: Overview['month'] }) => {
  const percent = month.limit ? Math.min(100, (month.used / month.limit) * 100) : 0;
  return (
    <Card withBorder>
      <AdminLink to="/settings/plan">Created this month</AdminLink>
      <Text fz={32} fw={600} className="tabular-numbers">
        {month.used.toLocaleString()}
        <Text span c="dimmed" size="sm">
          {month.limit === null ? ' without a limit' : ` of ${month.limit.toLocaleString()}`}
        </Text>
      </Text>
      {month.limit === null ? null : (
        <Progress
          value={percent}
          color={percent >= WARN_AT_PERCENT ? 'red' : 'blue'}
          aria-label="Share of the month's allowance that is used"
        />
      )}
    </Card>
  );
};

export const WebhookCard = ({
  webhooks: { delivered, dropped, waiting },
}: {
  webhooks: Overview['webhooks'];
}) => {
  const ended = delivered + dropped;
  return (
    <Card withBorder>
      <AdminLink to="/settings/external-api">Webhooks, last 24 hours</AdminLink>
      <Text fz={32} fw={600} className="tabular-numbers">
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
