import { Group, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import styles from './empty-state.module.css';
import { Stripe } from './mark.tsx';

interface Props {
  title: string;
  description?: ReactNode;
  /** The only thing on its page. */
  isPage?: boolean;
  children?: ReactNode;
}

/** In place of a list that has nothing to show: a slip without a return. */
export const EmptyState = ({ title, description, isPage = false, children }: Props) => (
  <div className={styles['empty']}>
    <div className={styles['slip']} aria-hidden>
      <Stripe className={styles['bars']} />
      <span />
      <span />
    </div>
    {isPage ? (
      <Title order={2} size="h3">
        {title}
      </Title>
    ) : (
      <Text fw={600} size="md">
        {title}
      </Text>
    )}
    {description === undefined ? null : (
      <Text c="dimmed" size="sm" maw="52ch" component="div">
        {description}
      </Text>
    )}
    {children ? (
      <Group gap="xs" mt="xs" justify="center">
        {children}
      </Group>
    ) : null}
  </div>
);
