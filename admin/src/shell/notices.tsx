import { Alert, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Overview } from '../../../contract/admin.ts';
import { PLANS_WITH_API } from '../../../contract/admin-plans.ts';
import { type Session, useSession } from '../session/session.ts';
import { overviewQuery, WARN_AT_PERCENT } from '../shop-queries.ts';
import { ButtonLink } from '../ui/links.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';

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
  const { passwordExposedAt } = session.user;
  if (notices.length === 0 && !passwordExposedAt) return null;
  return (
    <Stack gap="xs" mb="md" className="not-printed">
      {passwordExposedAt ? <PasswordExposed at={passwordExposedAt} /> : null}
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

const PasswordExposed = ({ at }: { at: string }) => (
  <Alert color="red" role="alert" py="xs">
    <Group justify="space-between" gap="sm">
      <Text size="sm" inherit>
        Someone entered your password and then ten wrong codes (<RelativeTime at={at} />
        ). They did not get in. If it was not you, change your password.
      </Text>
      <ButtonLink to="/account" size="xs" variant="default">
        Change your password
      </ButtonLink>
    </Group>
  </Alert>
);
