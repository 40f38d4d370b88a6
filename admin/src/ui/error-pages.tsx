import { Center, Stack, Text, Title } from '@mantine/core';
import { ButtonLink } from './links.tsx';
import { PageError } from './page-error.tsx';
import { useTabTitle } from './page-title.tsx';

// Pages that are shown without the shell around them.

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
