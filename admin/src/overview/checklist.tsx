import { Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Check } from 'lucide-react';
import { peopleQuery } from '../returns/queries.ts';
import { useSession } from '../session/session.ts';
import { clientsQuery, targetsQuery } from '../shop-queries.ts';
import { ButtonLink } from '../ui/links.tsx';
import { Section } from '../ui/page-frame.tsx';
import { Hint } from '../ui/two-lines.tsx';
import styles from './overview.module.css';

interface Step {
  title: string;
  why: string;
  done: boolean;
  to: '/settings/external-api' | '/settings/team' | '/settings/targets' | '/offline-repairs/new';
  action: string;
}

const useSetUpSteps = (isAdmin: boolean): Step[] => {
  const clients = useQuery({ ...clientsQuery, enabled: isAdmin });
  const people = useQuery({ ...peopleQuery, enabled: isAdmin });
  const targets = useQuery({ ...targetsQuery, enabled: isAdmin });
  if (!isAdmin) return [];
  return [
    {
      title: 'Make an API client',
      why: 'Your till or ERP gets a key, and creates returns by itself.',
      done: (clients.data?.items.length ?? 0) > 0,
      to: '/settings/external-api',
      action: 'API clients',
    },
    {
      title: 'Invite your people',
      why: 'Everyone works under their own name, and returns are assigned to them.',
      done: (people.data?.items.length ?? 0) > 1,
      to: '/settings/team',
      action: 'Team',
    },
    {
      title: 'Set targets',
      why: 'After how many days a return counts as overdue.',
      done: (targets.data?.targets.length ?? 0) > 0,
      to: '/settings/targets',
      action: 'Targets',
    },
  ];
};

const FIRST_RETURN: Step = {
  title: 'Make the first return',
  why: 'Write down what a customer hands in. Its figures then stand on this page.',
  done: false,
  to: '/offline-repairs/new',
  action: 'New repair',
};

export const Checklist = () => {
  const { user } = useSession();
  const steps = [...useSetUpSteps(user.role === 'ADMIN'), FIRST_RETURN];
  return (
    <Section
      title={steps.length > 1 ? 'Ready in four steps' : 'Nothing to do yet'}
      size="h4"
      padding="lg"
      maw={720}
    >
      <Hint>There are no returns yet.</Hint>
      <Stack gap={0} component="ol" m={0} p={0} style={{ listStyle: 'none' }}>
        {steps.map(({ title, why, done, to, action }) => (
          <li key={title} className={styles['step']}>
            <span
              className={styles['mark']}
              data-done={done || undefined}
              role="img"
              aria-label={done ? 'Done' : 'To do'}
            >
              {done ? <Check size={16} aria-hidden /> : null}
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
