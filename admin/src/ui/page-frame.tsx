import { Box, type BoxProps, Group, Stack, Text, Title, type TitleProps } from '@mantine/core';
import { type ReactNode, useEffect, useId } from 'react';
import { texts } from '../texts.ts';
import { Stripe } from './mark.tsx';
import styles from './page-frame.module.css';

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
    <Stack gap={4} className={styles['head'] ?? ''}>
      {backLink}
      <Group justify="space-between" align="flex-start" gap="sm">
        <PageTitle>{title}</PageTitle>
        {actions ? <Group gap="xs">{actions}</Group> : null}
      </Group>
      {intro ? (
        <Text c="dimmed" size="sm" maw="70ch">
          {intro}
        </Text>
      ) : null}
      <Stripe className={styles['head-stripe']} />
    </Stack>
    {children}
  </Stack>
);

interface SectionProps extends BoxProps {
  title: string;
  size?: TitleProps['size'];
  aside?: ReactNode;
  children: ReactNode;
}

export const Section = ({ title, size = 'h4', aside, children, ...box }: SectionProps) => {
  const id = useId();
  return (
    <Box component="section" aria-labelledby={id} className={styles['section'] ?? ''} {...box}>
      <Group gap="sm" mb="xs" justify="space-between">
        <Title order={3} size={size} id={id}>
          {title}
        </Title>
        {aside}
      </Group>
      {children}
    </Box>
  );
};

/** What a form ends with, in sight wherever its page is scrolled to. */
export const PageBar = ({ children }: { children: ReactNode }) => (
  <div className={styles['bar']}>{children}</div>
);

/** Appears after a while beside what still loads. */
export const SlowHint = () => <p className="late">{texts.common.slow}</p>;

export const Loading = () => (
  <div className={styles['loading']} role="status" aria-label={texts.common.loading}>
    <Stripe />
    <Stripe />
    <SlowHint />
  </div>
);
