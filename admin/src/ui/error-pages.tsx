import { Center, Stack, Text, Title } from '@mantine/core';
import { Outlet } from '@tanstack/react-router';
import { useSession } from '../session/session.ts';
import { ButtonLink } from './links.tsx';
import { PageError } from './page-error.tsx';
import { PageTitle, useTabTitle } from './page-title.tsx';

// What is shown in the place of a page.

export const NoSuchPage = () => {
  useTabTitle('No such page');
  return (
    <Center mih="100vh" p="md" component="main">
      <Stack align="center" gap="sm" ta="center">
        <Title order={1} size="h3">
          There is no such page
        </Title>
        <Text c="dimmed">The link may be old, or a letter of it is missing.</Text>
        <ButtonLink to="/">Go to overview</ButtonLink>
      </Stack>
    </Center>
  );
};

/** The app could not start: the session or the shell failed to load. */
export const StartFailed = ({ error }: { error: unknown }) => {
  useTabTitle('Not available');
  return (
    <Stack component="main" mih="100vh" p="md" justify="center" gap={0}>
      <Title order={1} size="h3" ta="center">
        Handback
      </Title>
      <PageError error={error} />
    </Stack>
  );
};

/** The settings, which are for Admins. The API checks that too; this tells the others why they see nothing. */
export const ForAdmins = () => {
  const { user } = useSession();
  if (user.role === 'ADMIN') return <Outlet />;
  return (
    <Stack align="flex-start" gap="sm">
      <PageTitle>Only Admins can open Settings</PageTitle>
      <Text c="dimmed">Ask an Admin of your shop to change what you need.</Text>
      <ButtonLink to="/">Go to overview</ButtonLink>
    </Stack>
  );
};
