import { Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Check } from 'lucide-react';
import { peopleQuery } from '../returns/queries.ts';
import { useSession } from '../session/session.ts';
import { clientsQuery, shopSettingsQuery, targetsQuery } from '../shop-queries.ts';
import { texts } from '../texts.ts';
import { ButtonLink } from '../ui/links.tsx';
import { Section } from '../ui/page-frame.tsx';
import { Hint } from '../ui/two-lines.tsx';
import styles from './today.module.css';

const { steps: words } = texts.today;

interface Step {
  title: string;
  why: string;
  action: string;
  done: boolean;
  to:
    | '/settings/shop'
    | '/settings/external-api'
    | '/settings/team'
    | '/settings/targets'
    | '/offline-repairs/new';
}

const FIRST_RETURN: Step = { ...words.first, done: false, to: '/offline-repairs/new' };

const useSetUpSteps = (isAdmin: boolean): Step[] => {
  const shop = useQuery({ ...shopSettingsQuery, enabled: isAdmin });
  const clients = useQuery({ ...clientsQuery, enabled: isAdmin });
  const people = useQuery({ ...peopleQuery, enabled: isAdmin });
  const targets = useQuery({ ...targetsQuery, enabled: isAdmin });
  if (!isAdmin) return [FIRST_RETURN];
  // In an order that one can follow: people who are invited meet a shop that has a name.
  return [
    { ...words.shop, done: (shop.data?.name ?? null) !== null, to: '/settings/shop' },
    { ...words.team, done: (people.data?.items.length ?? 0) > 1, to: '/settings/team' },
    { ...words.targets, done: (targets.data?.targets.length ?? 0) > 0, to: '/settings/targets' },
    FIRST_RETURN,
    { ...words.client, done: (clients.data?.items.length ?? 0) > 0, to: '/settings/external-api' },
  ];
};

export const Checklist = () => {
  const { user } = useSession();
  const steps = useSetUpSteps(user.role === 'ADMIN');
  return (
    <Section title={steps.length > 1 ? texts.today.setUp : texts.today.nothingYet} size="h4" maw={720}>
      <Hint>{texts.today.noReturns}</Hint>
      <Stack gap={0} component="ol" m={0} mt="sm" p={0} style={{ listStyle: 'none' }}>
        {steps.map(({ title, why, done, to, action }) => (
          <li key={title} className={styles['step']}>
            <span
              className={styles['mark']}
              data-done={done || undefined}
              role="img"
              aria-label={done ? texts.today.done : texts.today.toDo}
            >
              {done ? <Check /> : null}
            </span>
            <Group justify="space-between" gap="xs" flex={1}>
              <div>
                <Text fw={600} size="sm">
                  {title}
                </Text>
                <Hint>{why}</Hint>
              </div>
              <ButtonLink to={to} size="xs" variant={done ? 'default' : 'light'}>
                {action}
              </ButtonLink>
            </Group>
          </li>
        ))}
      </Stack>
    </Section>
  );
};
