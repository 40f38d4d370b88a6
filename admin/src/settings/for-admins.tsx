import { Stack, Text } from '@mantine/core';
import { Outlet } from '@tanstack/react-router';
import { useSession } from '../session/session.ts';
import { ButtonLink } from '../ui/links.tsx';
import { PageTitle } from '../ui/page-title.tsx';

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
