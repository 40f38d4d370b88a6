import { Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { PageTitle } from './page-title.tsx';

interface Props {
  title: string;
  /** One or two sentences: what this page is for. */
  intro?: ReactNode;
  /** Shown above the title. */
  backLink?: ReactNode;
  /** Buttons beside the title. */
  actions?: ReactNode;
  children: ReactNode;
}

/** A page with a title, an introduction and buttons. */
export const PageFrame = ({ title, intro, backLink, actions, children }: Props) => (
  <Stack maw={1100} gap="lg" pb="xl">
    <Stack gap="xs">
      {backLink}
      <Group justify="space-between" align="flex-start" gap="sm">
        <PageTitle>{title}</PageTitle>
        {actions ? <Group gap="xs">{actions}</Group> : null}
      </Group>
      {intro ? (
        <Text c="dimmed" maw="70ch">
          {intro}
        </Text>
      ) : null}
    </Stack>
    {children}
  </Stack>
);
