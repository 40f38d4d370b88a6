import { Card, Center, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTabTitle } from '../ui/page-title.tsx';

interface Props {
  /** For the browser's tab. */
  tab: string;
  title: string;
  intro?: ReactNode;
  wide?: boolean;
  children?: ReactNode;
}

/** A page without the navigation: before somebody is signed in, or before they may go on. */
export const EntryFrame = ({ tab, title, intro, wide = false, children }: Props) => {
  useTabTitle(tab);
  return (
    <Center mih="100vh" p="md" component="main">
      <Card withBorder w="100%" maw={wide ? 480 : 400} p="xl">
        <Stack>
          <Title order={1} size="h3">
            {title}
          </Title>
          {intro ? (
            <Text c="dimmed" size="sm">
              {intro}
            </Text>
          ) : null}
          {children}
        </Stack>
      </Card>
    </Center>
  );
};
