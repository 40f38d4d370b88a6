import { Card, Progress, SimpleGrid, Stack, Text } from '@mantine/core';
import type { Overview } from '../../../contract/admin.ts';
import { WARN_AT_PERCENT } from '../overview-query.ts';
import { TextLink } from '../ui/links.tsx';
import styles from './overview.module.css';

/** What only Admins can do something about. */
export const AdminCards = ({ overview }: { overview: Overview }) => (
  <SimpleGrid cols={{ base: 1, sm: 2 }}>
    <MonthCard month={overview.month} />
    <WebhookCard overview={overview} />
  </SimpleGrid>
);

const MonthCard = ({ month }: { month: Overview['month'] }) => {
  const percent = month.limit ? Math.min(100, (month.used / month.limit) * 100) : 0;
  return (
    <Card withBorder>
      <TextLink to="/settings/plan" size="sm">
        Created this month
      </TextLink>
      <Text className={styles['number'] ?? ''}>
        {month.used.toLocaleString()}
        <Text span c="dimmed" size="sm" fw={400} className={styles['unit'] ?? ''}>
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

const WebhookCard = ({ overview: { webhooks, droppedByClient } }: { overview: Overview }) => {
  const { delivered, dropped, waiting } = webhooks;
  const ended = delivered + dropped;
  return (
    <Card withBorder>
      <TextLink to="/settings/external-api" size="sm">
        Webhooks, last 24 hours
      </TextLink>
      <Text className={styles['number'] ?? ''}>
        {ended === 0 ? 'None' : `${Math.floor((delivered / ended) * 100)} %`}
        <Text span c="dimmed" size="sm" fw={400} className={styles['unit'] ?? ''}>
          {ended === 0 ? ' sent' : ' delivered'}
          {waiting > 0 ? `, ${waiting.toLocaleString()} waiting` : ''}
        </Text>
      </Text>
      {droppedByClient && droppedByClient.length > 0 ? (
        <Stack gap={2} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
          {droppedByClient.map((client) => (
            <Text key={client.clientId} size="sm" component="li">
              <TextLink
                to="/settings/external-api/$id"
                params={{ id: client.clientId }}
                search={{ status: 'DROPPED' }}
                inherit
                c="var(--mantine-color-error)"
                fw={600}
              >
                {client.name}: {client.dropped.toLocaleString()} given up
              </TextLink>
            </Text>
          ))}
        </Stack>
      ) : null}
    </Card>
  );
};
