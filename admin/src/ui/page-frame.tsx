import {
  Card,
  type CardProps,
  Center,
  Group,
  Loader,
  Stack,
  Text,
  Title,
  type TitleProps,
} from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { type ReactNode, useEffect, useId } from 'react';

const APP = 'Handback';

export const useTabTitle = (title: string): void =>
  useEffect(() => {
    document.title = `${title} · ${APP}`;
    return () => {
      document.title = APP;
    };
  }, [title]);

export const PageTitle = ({ children, ...rest }: { children: string } & Omit<TitleProps, 'children'>) => {
  useTabTitle(children);
  return (
    <Title order={2} style={{ overflowWrap: 'anywhere' }} {...rest}>
      {children}
    </Title>
  );
};

interface Props {
  title: string;
  intro?: ReactNode;
  backLink?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

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

export const useUnsavedWarning = (isChanged: boolean, what: string): void => {
  useBlocker({
    shouldBlockFn: () => !window.confirm(`Leave this page? The changed ${what} are not saved yet.`),
    enableBeforeUnload: isChanged,
    disabled: !isChanged,
  });
};

interface SectionProps extends CardProps {
  title: string;
  size?: TitleProps['size'];
  aside?: ReactNode;
  children: ReactNode;
}

export const Section = ({ title, size = 'h5', aside, children, ...card }: SectionProps) => {
  const id = useId();
  return (
    <Card withBorder component="section" aria-labelledby={id} {...card}>
      <Group gap="sm" mb="xs" justify="space-between">
        <Title order={3} size={size} id={id}>
          {title}
        </Title>
        {aside}
      </Group>
      {children}
    </Card>
  );
};

export const Loading = () => (
  <Center mih="50vh">
    <Loader role="status" aria-label="Loading" />
  </Center>
);
