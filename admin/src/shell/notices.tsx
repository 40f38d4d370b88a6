import { Alert, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Overview } from '../../../contract/admin.ts';
import { PLANS_WITH_API } from '../../../contract/admin-plans.ts';
import { overviewQuery, WARN_AT_PERCENT } from '../overview-query.ts';
import { type Session, useSession } from '../session/session.ts';
import { ButtonLink } from '../ui/links.tsx';

interface Notice {
  colour: string;
  text: string;
}

/** Warnings about the shop's plan, subscription and usage. */
const noticesFor = ({ shop }: Session, month: Overview['month'] | undefined): Notice[] => {
  const notices: Notice[] = [];
  if (shop.subscription === 'inactive')
    notices.push({
      colour: 'red',
      text: 'The subscription is inactive: returns can be read, but not made or moved.',
    });
  if (!PLANS_WITH_API.includes(shop.plan))
    notices.push({
      colour: 'yellow',
      text: 'Your plan does not include the External API: keys are refused and no webhooks are sent. It comes with Scale and Enterprise.',
    });
  if (month && month.limit !== null && month.used >= month.limit)
    notices.push({
      colour: 'red',
      text: `All ${month.limit.toLocaleString()} returns of this month are used: no more can be made until next month.`,
    });
  else if (month && month.limit !== null && month.used >= (month.limit * WARN_AT_PERCENT) / 100)
    notices.push({
      colour: 'yellow',
      text: `${month.used.toLocaleString()} of this month's ${month.limit.toLocaleString()} returns are used.`,
    });
  return notices;
};

export const Notices = () => {
  const session = useSession();
  const { data } = useQuery(overviewQuery);
  const notices = noticesFor(session, data?.month);
  if (notices.length === 0) return null;
  return (
    <Stack gap="xs" mb="md" className="not-printed">
      {notices.map(({ colour, text }) => (
        <Alert key={text} color={colour} role="status" py="xs">
          <Group justify="space-between" gap="sm">
            <Text size="sm" inherit>
              {text}
              {session.user.role === 'ADMIN' ? '' : ' Ask an Admin of your shop.'}
            </Text>
            {session.user.role === 'ADMIN' ? (
              <ButtonLink to="/settings/plan" size="xs" variant="default">
                To Plan and usage
              </ButtonLink>
            ) : null}
          </Group>
        </Alert>
      ))}
    </Stack>
  );
};
