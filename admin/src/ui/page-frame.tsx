import { Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { PageTitle } from './page-title.tsx';

interface Props {
  title: string;
  /** One or two sentences: what this page is for. */
  lead?: ReactNode;
  /** Above the title: the way back. */
  above?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** The frame of a page: its heading, what it is for, what can be done. */
export const PageFrame = ({ title, lead, above, actions, children }: Props) => (
  <Stack maw={1100} gap="lg" pb="xl">
    <Stack gap="xs">
      {above}
      <Group justify="space-between" align="flex-start" gap="sm">
        <PageTitle>{title}</PageTitle>
        {actions ? <Group gap="xs">{actions}</Group> : null}
      </Group>
      {lead ? (
        <Text c="dimmed" maw="70ch">
          {lead}
        </Text>
      ) : null}
    </Stack>
    {children}
  </Stack>
);
