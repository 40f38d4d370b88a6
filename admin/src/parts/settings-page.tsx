import { Group, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';

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
export const SettingsPage = ({ title, lead, above, actions, children }: Props) => {
  useEffect(() => {
    document.title = `${title} · Handback`;
    return () => {
      document.title = 'Handback';
    };
  }, [title]);
  return (
    <Stack maw={1100} gap="lg" pb="xl">
      <Stack gap="xs">
        {above}
        <Group justify="space-between" align="flex-start" gap="sm">
          <Title order={2}>{title}</Title>
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
};
